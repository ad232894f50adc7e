/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile --flush: a file for each interval in a directory, named by its time, for as long as the
 * host runs.
 *
 *	struct profile_flush flush = { 0 };		filled by PROFILE_FLUSH_OPTIONS
 *	struct error *err = profile_flush_open(&flush, "pb.gz");
 *	if (!err)
 *		err = profile_flush_add(&flush, &report, format);
 *	profile_flush_print(&flush);
 *	profile_flush_close(&flush);
 *
 * Names, limits and order are those of recordings (snapshot/recording.h). A file that cannot be
 * written is lost, and the run goes on: a reading in memory for each interval of a full disk would
 * be no profiler that runs for weeks.
 */
#ifndef CMD_PROFILE_FLUSH_H
#define CMD_PROFILE_FLUSH_H

#include "cmd/record.h"
#include "report/profile_report.h"
#include "snapshot/recording.h"

/* Of the disk, for others. */
#define PROFILE_FLUSH_SPARED_PERCENT 5

#define PROFILE_FLUSH_INTERVAL_NS    (60 * (uint64_t)1000000000)

struct profile_flush {
	const char *directory; /* NULL: not asked for */
	struct keep keep;
	struct recording recording; /* once open */
	char suffix[RECORDING_SUFFIX_SIZE];
	bool is_open;
	size_t written, removed, lost;
	uint64_t bytes;
	int told; /* errno of the failure that was told, -1 without one; 0: none */
};

/* The rows, for the table of a command whose arguments have a `struct profile_flush flush`. */
/* clang-format off */
#define PROFILE_FLUSH_OPTIONS(arguments) \
	{ "flush", 0, "DIR", parse_string, offsetof(struct arguments, flush.directory),            \
	  "Write each --interval (default 1m) to a file of its own in DIR, named by its time, "    \
	  "in --format (default pprof), until interrupted.", NULL, OPTION_COMMON },                \
	{ "keep", 0, "TIME|SIZE", parse_keep, offsetof(struct arguments, flush.keep),              \
	  "Keep the files of --flush of the last TIME (1h, 7d), or at most SIZE (500MiB), and "    \
	  "remove older ones. May be given once for each.", NULL, false }
/* clang-format on */

/* Make the directory if it is not there, and look for files of that extension ("pb.gz"): they are
 * gone on with. */
struct error *profile_flush_open(struct profile_flush *flush, const char *extension) MUST_CHECK;

/* Write a file, and remove what is beyond the limits. Says on standard error once that it fails,
 * until it works again: an error is only for lack of memory. */
struct error *profile_flush_add(struct profile_flush *flush, const struct profile_report *report,
				enum profile_format format) MUST_CHECK;

/* Say on standard error how many there are. */
void profile_flush_print(const struct profile_flush *flush);

/* Takes one that is not open. */
void profile_flush_close(struct profile_flush *flush);

#endif
