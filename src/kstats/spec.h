/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The specification of a metric, as the user writes it:
 *
 *	trace NAME [bits B] [start X] [end Y]
 *
 * X and Y are locations: a function of the kernel ("vfs_read"), "tracepoint:CAT:NAME" (or
 * "__tracepoint_NAME"), "syscall:NAME", "uprobe:FILE:FUNCTION", "uretprobe:FILE:FUNCTION",
 * "uret:FILE:FUNCTION", "usdt:FILE:PROVIDER:NAME". Without X the start is the function NAME;
 * without Y the metric is its duration, and "GAP-NAME" the time from its end to its next start, of
 * the same thread or CPU, depending on the key. With the key argN there is no gap metric: a later
 * call with the same argument may be about another object.
 */
#ifndef KSTATS_SPEC_H
#define KSTATS_SPEC_H

#include "kstats/table.h"

#define KSTATS_GRAMMAR       "NAME [bits B] [start X] [end Y]"
#define KSTATS_NAME_MAX      63
#define KSTATS_BITS_DEFAULT  3
#define KSTATS_GAP           "GAP-"

#define KSTATS_ARGUMENTS_MAX 12 /* of USDT probes, by <sys/sdt.h>; functions have 6 */

struct kstats_key_info {
	const char *name, *prose;
};
extern const struct kstats_key_info kstats_keys[KSTATS_KEY_COUNT];

struct kstats_spec {
	char *name;         /* kstats_name_check() took it */
	char *start, *end;  /* start is never NULL; end: NULL without */
	unsigned frac_bits; /* 0 to BUCKET_FRAC_BITS_MAX */
	enum kstats_key key;
	unsigned argument, end_argument; /* from 1 to KSTATS_ARGUMENTS_MAX; of KSTATS_KEY_ARGUMENT:
					    at the start, at the end */
	enum kstats_by by;
	/* Record only values of these; 0 and NULL: all. */
	uint32_t tgid;
	uint64_t tgid_born; /* in ticks, as /proc shows it; 0: whenever it was */
	char *cgroup, *comm;
	char *cpus;          /* a list, "0-3,7" */
	bool is_stopped;     /* made, and not started */
	bool forces_returns; /* return probes in programs of Go too */
};

void kstats_spec_clear(struct kstats_spec *spec);

/* Letters, digits, "_" and "-", up to KSTATS_NAME_MAX of them: it is the name of a file in several
 * file systems, and of a metric in other systems. Not "GAP-...", "_control" and "_raw". */
struct error *kstats_name_check(const char *name) MUST_CHECK;

/* NAME and pairs of words behind it: `words` after "trace". Pairs in any order, the last of a kind
 * counts, keywords in any case. To be cleared, also after an error. */
struct error *kstats_spec_parse(char *const *words, struct kstats_spec *ret) MUST_CHECK;

#endif
