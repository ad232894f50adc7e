/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder probe/: kprobes, uprobes, USDT and tracepoints: parses the text of users (spec.h),
 * finds the locations (points.h, with kernel, file and path), and attaches programs to them
 * (attach.h).
 */

/*
 * The places that a probe (spec.h) means: functions of the kernel, tracepoints, code of
 * files.
 *
 *	probe_points_create(&points);
 *	err = probe_points_add(points, &host, text_of("uprobe:c:mallo?"));
 *	for (size_t i = 0; i < points->count; i++)
 *		attach(&points->items[i]);
 *	probe_points_destroy(points);
 *
 * Functions of the kernel come from available_filter_functions of tracefs, which are those that
 * can be probed, or from /proc/kallsyms where that cannot be read. Functions of a file come from
 * its symbols, those of its debug file and those packed into it, under the names that they have in
 * the source too (C++, Rust; without parameters); lines from its debug information.
 */
#ifndef PROBE_POINTS_H
#define PROBE_POINTS_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/names.h"
#include "base/word_map.h"
#include "elf/usdt_argument.h"
#include "probe/spec.h"

/* More points than this, of all probes together, are an error. */
#define PROBE_POINTS_MAX 10000

/* The language of the code at a point of a file, if it was determined. */
enum probe_code {
	PROBE_CODE_USUAL,
	PROBE_CODE_BESIDE_GO, /* what C has in a file of Go: it has a stack that does not move */
	PROBE_CODE_GO,        /* R14 identifies the goroutine (x86_64, Go 1.17 and later) */
	PROBE_CODE_GO_UNKNOWN /* a file of Go in which goroutines cannot be identified */
};

/* A point with it is a jump back to the start of the function, at which the call that is in
 * progress begins anew: Go's functions do that when their stack was too small. */
#define PROBE_EVENT_RESTART UINT32_MAX

struct probe_point {
	enum probe_kind kind;
	enum probe_code code;
	uint32_t event;          /* in `events`, or PROBE_EVENT_RESTART */
	const struct name *name; /* for people: "uprobe:/usr/bin/bash:readline+4" */
	/* The function of the kernel, the category of a tracepoint, or else the path of the file.
	 */
	const struct name *where;
	const struct name *symbol; /* of a tracepoint its name; else NULL */
	/* Kernel: from the start of the function. Files: in the file, in bytes. Tracepoints: the
	 * number of the event for perf_event_open(2). */
	uint64_t offset;
	uint64_t semaphore; /* USDT: of its counter, in the file; 0: none */
	/* USDT: of the argument that probe_host asks for, without a symbol. */
	struct usdt_argument argument;
	/* The path to exactly the file that was read, valid while the points exist. `where` may
	 * name another file by now, in which the offset is in the middle of an instruction. */
	const struct name *opened;
};

/* A file that was read. */
struct probe_opened {
	int fd;
	dev_t device;
	ino_t inode;
	const struct name *path; /* by the descriptor */
};

struct probe_points {
	ARRAY(struct probe_point);
	/* The events that points count as, one for each name: a line may have several locations. */
	struct {
		ARRAY(const struct name *);
	} events;
	struct {
		ARRAY(struct probe_opened);
	} files;
	struct arena arena;
	struct names names;
	struct word_map seen, event_numbers;
};

/* The files to search. NULL: the usual ones. */
struct probe_host {
	const char
		*tracing; /* tracefs: /sys/kernel/tracing, /sys/kernel/debug/tracing, or our own */
	const char *kallsyms;  /* /proc/kallsyms */
	const char *libraries; /* /etc/ld.so.cache */
	/* Probes without a file mean this program and its libraries; libraries are first looked
	 * for among what this process has mapped. Paths of it are then as it sees them (0: of
	 * ourselves). Without either they mean libc. */
	const char *program;
	uint32_t pid;
	/* Place return probes in files of Go too, which end the program sooner or later. */
	bool forces_returns;
	/* For measuring calls: include jumps back to the start of Go functions, and determine the
	 * language of points in files. */
	bool measures_calls;
	/* Find where this argument of a USDT probe is, from 1; 0: of none. It is an error if a
	 * location does not have it, or in a place that cannot be read. */
	unsigned usdt_argument;
};

struct error *probe_points_create(struct probe_points **ret) MUST_CHECK;
/* Takes NULL. */
void probe_points_destroy(struct probe_points *points);
DEFINE_CLEANUP(probe_points_destroy, struct probe_points *)

/* Has the kernel, or a module, a function of this name? If not, `*ret_near` (to be freed) is a name
 * like it, or NULL when none is. */
struct error *probe_function_exists(const struct probe_host *host, const char *function,
				    bool *ret_exists, char **ret_near) MUST_CHECK;

/*
 * Add what a probe means. It is an error when that is nothing, which says what is near, or too
 * much, and when a file cannot be read. What is in it already is not added again.
 */
struct error *probe_points_add(struct probe_points *points, const struct probe_host *host,
			       struct text spec) MUST_CHECK;

/* Names of points, for --list-probes; false ends it. */
typedef bool probe_visit(void *context, const char *name);

/*
 * Show what a probe means, which may be nothing. Of a text without a kind that is all kprobes and
 * tracepoints with that pattern in their names; of no text, all of them.
 */
struct error *probe_list(const struct probe_host *host, struct text spec, probe_visit *visit,
			 void *context) MUST_CHECK;

#endif
