/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

double progress_seconds(const struct progress *progress)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - progress->start.tv_sec) +
	       (double)(now.tv_nsec - progress->start.tv_nsec) / 1e9;
}

void progress_print(struct progress *progress, size_t done, size_t total)
{
	if (progress_seconds(progress) < 1)
		return;
	progress->shown = true;
	fprintf(stderr, "\r%zu of %zu %s", done, total, progress->things);
}

static void show_progress(void *context, size_t done, size_t total)
{
	if (done % 64 == 0)
		progress_print(context, done, total);
}

progress_show *progress_begin(struct progress *ret, const char *things, bool quiet)
{
	*ret = (struct progress){ .things = things };
	clock_gettime(CLOCK_MONOTONIC, &ret->start);
	return isatty(STDERR_FILENO) && !quiet ? show_progress : NULL;
}

void progress_end(const struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}
