/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that is known of one row, as the inspector of `ctprof top` shows it: of a group what its
 * threads do, and all of the one that stands for it. Live and in a replay it is the same page, from
 * two sources (inspect_source.h).
 */
#ifndef TOP_INSPECT_H
#define TOP_INSPECT_H

#include <stdio.h>

#include "capture/capture.h"
#include "os/tasks.h"
#include "os/taskstats_socket.h"
#include "os/throttle.h"
#include "state/reading.h"
#include "top/cpu_wait.h"
#include "top/past.h"
#include "top/thread_watch.h"

/* Begins as {0}. */
struct top_inspector {
	struct top_past past;
	/* On a live host. */
	uint64_t id;                      /* of the line that is watched */
	struct throttle_reading throttle; /* of its cgroup, at the window before */
	struct cpu_loads loads;           /* at the window before */
	struct tids members;              /* of a group: its threads in this window */
	struct thread_watch *watch;
	bool is_watch_early;                /* it began before the line was known */
	struct taskstats_socket *taskstats; /* NULL: there are none */
	struct capture_options options;
	struct capturer *capturer; /* by `options`; NULL: not yet */
	uint32_t tid;              /* that it captures */
	bool has_looked_for_taskstats;
	bool has_missed, has_found; /* windows without the row of --inspect, and with it */
};

struct top;

/* Print the page of a row of the window of `top`: one sentence that says what it does with its time
 * and what it waits for, wrapped at `width` columns (0: one line), then the facts behind it. */
struct error *top_inspect(struct top *top, const struct screen_subject *subject, size_t width,
			  FILE *out) MUST_CHECK;

/* The row of --inspect in the window of `top`, as a page or as JSON (doc/top.md). A row that is not
 * in the window is said on standard error, and is an error at the end if it was in none. */
struct error *top_inspect_window(struct top *top, size_t number) MUST_CHECK;
struct error *top_inspect_end(const struct top *top) MUST_CHECK;

/* Before the first window of --inspect: begin to profile what is inspected, where that is a thread
 * or a process. */
void top_inspect_begin(struct top *top);

/* No row is inspected for now: end what was begun for one. */
void top_inspector_rest(struct top_inspector *inspector);

/* End the inspection. */
void top_inspector_deinit(struct top_inspector *inspector);

#endif
