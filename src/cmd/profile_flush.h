/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile --flush: writes each interval to a file of its own in a directory, named by its time. A
 * run may last for weeks.
 *
 *	struct profile_flush flush = { 0 };		filled by PROFILE_FLUSH_OPTIONS
 *	struct error *err = profile_flush_open(&flush, "pb.gz");
 *	if (!err)
 *		err = profile_flush_add(&flush, &report, format);
 *	profile_flush_print(&flush);
 *	profile_flush_close(&flush);
 *
 * Names, limits and order are those of recordings (snapshot/recording.h). If a file cannot be
 * written, its interval is dropped and counted as lost: to keep it would take memory without bound
 * while the disk is full.
 */
#ifndef CMD_PROFILE_FLUSH_H
#define CMD_PROFILE_FLUSH_H

#include "cmd/record.h"
#include "report/profile_report.h"
#include "snapshot/recording.h"

/* The share of the disk, in percent, that is left free for other programs. */
#define PROFILE_FLUSH_SPARED_PERCENT 5

#define PROFILE_FLUSH_INTERVAL_NS    (60 * (uint64_t)1000000000)

struct profile_flush {
	const char *directory; /* NULL: no --flush */
	struct keep keep;
	struct recording recording; /* if `is_open` */
	char suffix[RECORDING_SUFFIX_SIZE];
	bool is_open;
	size_t written, removed, lost;
	uint64_t bytes;
	int told; /* errno of the last failure that was printed, -1 if it has none; 0: no failure */
};

/* Rows for the option table of a command whose `struct arguments` has a member `struct
 * profile_flush flush`. */
/* clang-format off */
#define PROFILE_FLUSH_OPTIONS(arguments) \
	{ "flush", 0, "DIR", parse_string, offsetof(struct arguments, flush.directory),            \
	  "Write each --interval (default 1m) to a file of its own in DIR, named by its time, "    \
	  "in --format (default pprof), until interrupted.", NULL, OPTION_COMMON },                \
	{ "keep", 0, "TIME|SIZE", parse_keep, offsetof(struct arguments, flush.keep),              \
	  "Keep the files of --flush of the last TIME (1h, 7d), or at most SIZE (500MiB), and "    \
	  "remove older ones. May be given once for each.", NULL, false }
/* clang-format on */

/* Create the directory if it does not exist. Files with the extension ("pb.gz") that it already has
 * count towards the limits. */
struct error *profile_flush_open(struct profile_flush *flush, const char *extension) MUST_CHECK;

/* Write a file, and remove the oldest ones beyond the limits. A failure to write is printed on
 * standard error once, until a write succeeds again, and is no error; only lack of memory is. */
struct error *profile_flush_add(struct profile_flush *flush, const struct profile_report *report,
				enum profile_format format) MUST_CHECK;

/* Print on standard error how many files were written, removed and lost. */
void profile_flush_print(const struct profile_flush *flush);

/* Does nothing if it is not open. */
void profile_flush_close(struct profile_flush *flush);

#endif
