/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows the progress of long operations on a terminal.
 *
 *	struct progress progress;
 *	options.progress = progress_begin(&progress, "processes", quiet);
 *	options.progress_context = &progress;
 *	err = capture_run(&options, &snapshot);
 *	progress_end(&progress);
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

typedef void progress_show(void *context, size_t done, size_t total);

struct progress {
	struct timespec start;
	const char *things;
	bool shown;
};

/* The callback for a capture; NULL if no terminal shows it. `things` names what is counted, and
 * must stay valid. */
progress_show *progress_begin(struct progress *ret, const char *things, bool quiet);

/* The same, for callers that show it at any time: prints nothing within the first second. */
void progress_print(struct progress *progress, size_t done, size_t total);

/* Seconds since it began. */
double progress_seconds(const struct progress *progress);

/* Wipes what was shown. */
void progress_end(const struct progress *progress);

#endif
