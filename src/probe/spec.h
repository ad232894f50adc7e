/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The specification of probes, as the user writes it:
 *
 *	kprobe:PATTERN[+OFFSET]     kretprobe:PATTERN
 *	uprobe:[FILE:]PATTERN[+OFFSET]     uretprobe:[FILE:]PATTERN     uret:[FILE:]PATTERN
 *	uprobe:[FILE:]SOURCE.c:LINE
 *	tracepoint:CATEGORY:NAME    usdt:FILE:[PROVIDER:]NAME
 *
 * A pattern is a name, a glob (`*`, `?`, `[...]`, of the whole name), or a regular expression
 * between slashes (POSIX extended; anywhere in the name). CATEGORY, PROVIDER and NAME are patterns
 * too. FILE is an absolute path, or the name of a library or program ("c", "libc.so.6", "bash").
 *
 * For uretprobe the kernel replaces the return address on the stack; uret sets probes at the RET
 * instructions of the function, which Go and other programs that read return addresses need.
 *
 * "::" is part of a name of C++ or Rust; a single ':' is a separator. A text that begins and ends
 * with '/' is a regular expression, not a path. "(*" is part of a method of Go and does not make a
 * glob: "main.(*Server).Serve".
 */
#ifndef PROBE_SPEC_H
#define PROBE_SPEC_H

#include "base/error.h"
#include "base/text.h"

/* PROBE(id, word, what it is) */
#define PROBE_KINDS(PROBE)                                                                      \
	PROBE(KPROBE, "kprobe", "call of a kernel function")                                    \
	PROBE(KRETPROBE, "kretprobe", "return of a kernel function")                            \
	PROBE(UPROBE, "uprobe", "call of a function of a program or library, or a source line") \
	PROBE(URETPROBE, "uretprobe", "return of a function of a program or library")           \
	PROBE(URET, "uret", "the same, by probes at its RET instructions")                      \
	PROBE(TRACEPOINT, "tracepoint", "kernel tracepoint")                                    \
	PROBE(USDT, "usdt", "static probe of a program or library")

enum probe_kind {
#define PROBE_ENUM(id, word, prose) PROBE_##id,
	PROBE_KINDS(PROBE_ENUM)
#undef PROBE_ENUM
		PROBE_KIND_COUNT
};

struct probe_kind_row {
	const char *word, *prose;
};
extern const struct probe_kind_row probe_kinds[PROBE_KIND_COUNT];

/* Longer ones are refused. */
#define PROBE_SPEC_MAX 4096

struct probe_spec {
	enum probe_kind kind;
	struct text file;  /* of uprobes and USDT; empty: not said */
	struct text group; /* a pattern: category, provider; empty: any */
	struct text name;  /* a pattern; empty of a line */
	uint64_t offset;   /* from where the function starts; only with names that are no pattern */
	struct text source;
	uint32_t line; /* 0: a function is meant */
};

/* Is such a probe in a file of a program or library? */
bool probe_kind_is_in_file(enum probe_kind kind);

/* The texts of `ret` point into `text`. */
struct error *probe_spec_parse(struct text text, struct probe_spec *ret) MUST_CHECK;

/* --- patterns --- */

enum pattern_form { PATTERN_NAME, PATTERN_GLOB, PATTERN_EXPRESSION };

enum pattern_form probe_pattern_form(struct text pattern);

struct probe_pattern;

/* An error is that it is no regular expression. */
struct error *probe_pattern_create(struct text pattern, struct probe_pattern **ret) MUST_CHECK;
/* Takes NULL. */
void probe_pattern_destroy(struct probe_pattern *pattern);
DEFINE_CLEANUP(probe_pattern_destroy, struct probe_pattern *)

/* Patterns of nothing match everything. */
bool probe_pattern_matches(const struct probe_pattern *pattern, const char *name);

#endif
