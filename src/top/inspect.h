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
#include "state/reading.h"
#include "top/past.h"
#include "top/thread_watch.h"

/* Begins as {0}. */
struct top_inspector {
	struct top_past past;
	/* On a live host. */
	uint64_t id;         /* of the line that is watched */
	struct tids members; /* of a group: its threads in this window */
	struct thread_watch *watch;
	struct taskstats_socket *taskstats; /* NULL: there are none */
	struct capture_options options;
	struct capturer *capturer; /* by `options`; NULL: not yet */
	uint32_t tid;              /* that it captures */
	bool has_looked_for_taskstats;
};

struct top;

/* The window of `top` is the one that is shown. */
struct error *top_inspect(struct top *top, const struct screen_subject *subject,
			  FILE *out) MUST_CHECK;

/* End the inspection. */
void top_inspector_deinit(struct top_inspector *inspector);

#endif
