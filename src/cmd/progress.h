/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a capture is, for those who wait at a terminal.
 *
 *	struct progress progress;
 *	options.progress = progress_begin(&progress, quiet);
 *	options.progress_context = &progress;
 *	err = capture_run(&options, &snapshot);
 *	progress_end(&progress);
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

typedef void progress_show(void *context, size_t done, size_t total);

struct progress {
	struct timespec start;
	bool shown;
};

/* What a capture is to call; NULL when nobody is there to see it. */
progress_show *progress_begin(struct progress *ret, bool quiet);

/* Seconds since it began. */
double progress_seconds(const struct progress *progress);

/* Wipes what was shown. */
void progress_end(const struct progress *progress);

#endif
