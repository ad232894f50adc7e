/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture again and again: into a recording (snapshot/recording.h), or into memory until a trigger
 * fires.
 *
 *	struct record_arguments arguments = { 0 };	filled by RECORD_OPTIONS
 *	struct error *err = record_settle(&arguments);
 *	if (!err && record_wanted(&arguments))
 *		status = record(&arguments, &options, directory);
 *	record_arguments_deinit(&arguments);
 */
#ifndef CMD_RECORD_H
#define CMD_RECORD_H

#include "capture/capture.h"
#include "capture/trigger.h"
#include "cli/reading.h"
#include "snapshot/captures.h"

/* The default size of the ring of compressed captures in memory. */
#define RECORD_RING_BYTES ((uint64_t)64 << 20)

struct record_arguments {
	uint64_t interval_ns, duration_ns; /* 0: not given */
	size_t count;                      /* 0: no end */
	struct keep keep, ring;
	struct triggers {
		ARRAY(struct trigger);
	} triggers;
	bool quiet;
};

struct error *parse_interval(const char *argument, void *at);
struct error *parse_keep(const char *argument, void *at);
struct error *parse_trigger(const char *argument, void *at);

/* The rows, for the table of a command whose arguments have a `struct record_arguments record`. */
/* clang-format off */
#define RECORD_AT(arguments, member) offsetof(struct arguments, record.member)
#define RECORD_OPTIONS(arguments)                                                                 \
	{ "interval", 'i', "TIME", parse_interval, RECORD_AT(arguments, interval_ns),              \
	  "Capture every TIME (500ms, 5s, 1m; a bare number is seconds) into the "                 \
	  "directory of -o (default HOSTNAME-TIMESTAMP.ctprof), until interrupted. "               \
	  "With --ring, the default is 5s.",                                                       \
	  NULL, OPTION_COMMON },                                                                          \
	{ "count", 'n', "N", parse_count, RECORD_AT(arguments, count),                   \
	  "Stop after N captures.", NULL, OPTION_COMMON },                                                 \
	{ "duration", 0, "TIME", parse_duration, RECORD_AT(arguments, duration_ns),                 \
	  "Stop after TIME.", NULL, OPTION_COMMON },                                                       \
	{ "keep", 0, "TIME|SIZE", parse_keep, RECORD_AT(arguments, keep),                          \
	  "Keep the captures of the last TIME (1h, 7d), or at most SIZE (500MiB), and "            \
	  "remove older ones from the directory. May be given once for each.", NULL, false },      \
	{ "ring", 0, "TIME|SIZE", parse_keep, RECORD_AT(arguments, ring),                          \
	  "Hold the captures of the last TIME in memory, at most SIZE (default 64MiB), "           \
	  "and write them to the directory when a --trigger fires. May be given once "             \
	  "for each.", NULL, false },                                                              \
	{ "trigger", 0, "FACT>LIMIT|SIGUSR1", parse_trigger, RECORD_AT(arguments, triggers),       \
	  "Make --ring write on a condition or signal: 'psi.cpu.some>20', "                        \
	  "'runnable>2*cpus', SIGUSR1. May be given more than once.", NULL, false }
/* clang-format on */

/* Is it a recording that was asked for, and no single capture? */
bool record_wanted(const struct record_arguments *arguments);

/* After the options were parsed: what follows from several of them, or a usage error. */
struct error *record_settle(struct record_arguments *arguments) MUST_CHECK;

/* Record into `directory`, and say on standard error what became of it. Notes of triggers are added
 * to that of `options`. Returns the exit status. */
int record(struct record_arguments *arguments, struct capture_options *options,
	   const char *directory);

void record_arguments_deinit(struct record_arguments *arguments);

#endif
