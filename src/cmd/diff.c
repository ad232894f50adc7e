/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture, wait or run a command, capture, compare.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/interrupts.h"
#include "capture/capture.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/pager.h"
#include "cli/reading.h"
#include "cli/run.h"
#include "cli/target.h"
#include "snapshot/file.h"

struct diff_arguments {
	struct display display; /* first: the options of display know its place */
	struct target target;
	struct reading_arguments reading;
	const char *prefix;
	bool quiet;
};

#define AT(member) offsetof(struct diff_arguments, member)

static const struct option_row diff_options[] = {
	{ "output", 'o', "PREFIX", parse_string, AT(prefix),
	  "Keep the two snapshots as PREFIX.baseline.ctprof.zst and PREFIX.candidate.ctprof.zst.",
	  NULL, false },
	TARGET_OPTIONS(diff_arguments, parse_pids_by_comm),
	READING_OPTIONS(diff_arguments),
	{ "quiet", 'q', NULL, parse_flag, AT(quiet),
	  "Print nothing on standard error about the command and the captures.", NULL, false },
	DISPLAY_OPTIONS(parse_compare_columns, compare_column_name, parse_compare_sort,
			compare_sort_name, SORT_ROWS_HELP, LIMIT_ROWS_HELP, ALL_ROWS_COMPARE_HELP),
	COMPARE_OPTIONS(WINDOW_HELP "The default, without --normalize."),
};

/* --- waiting --- */

static struct timespec after_now(uint64_t ns)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	ns += (uint64_t)time.tv_nsec;
	return (struct timespec){ time.tv_sec + (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
}

static bool is_left(const struct timespec *end, struct timespec *ret)
{
	struct timespec time;
	int64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &time);
	ns = (int64_t)(end->tv_sec - time.tv_sec) * NS_PER_S + end->tv_nsec - time.tv_nsec;
	*ret = (struct timespec){ (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
	return ns > 0;
}

/* A first interrupt ends the wait, and the report is of the time that passed; a second one ends the
 * program as ever. */
static void wait_for(uint64_t ns)
{
	struct timespec end = after_now(ns), left;
	sigset_t interrupt, before;

	sigemptyset(&interrupt);
	interrupts_add(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	while (is_left(&end, &left) && sigtimedwait(&interrupt, NULL, &left) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* --- capturing --- */

/* The names of the two captures: their files, when they are kept. */
struct diff_paths {
	char *before, *after;
};

static void paths_deinit(struct diff_paths *paths)
{
	free(paths->before);
	free(paths->after);
}

static bool paths_init(struct diff_paths *paths, const char *prefix)
{
	*paths = (struct diff_paths){ 0 };
	if (!prefix) {
		paths->before = strdup("the first capture");
		paths->after = strdup("the second");
	} else if (asprintf(&paths->before, "%s.baseline.ctprof.zst", prefix) < 0 ||
		   asprintf(&paths->after, "%s.candidate.ctprof.zst", prefix) < 0) {
		return false;
	}
	return paths->before && paths->after;
}

/* The time between the two captures: a command, or with NULL a duration. */
struct between {
	char **command;
	uint64_t wait_ns;
	bool started; /* the command ran, or was not tried yet */
	struct run_result run;
};

/* A capture and the name it has in the report, which is its file when it is kept. */
static struct error *capture_side(struct capturer *capturer, bool keep, struct side *ret)
{
	struct ctprof_snapshot *snapshot;
	const bool was_raised = privileges_raise();
	struct error *err = capturer_take(capturer, &snapshot);

	privileges_lower(was_raised);
	if (err)
		return err;
	ret->snapshot = snapshot;
	return keep ? snapshot_save(snapshot, ret->name) : NULL;
}

static struct error *run_command(struct between *between, struct run *run)
{
	struct error *err = run_go(run);

	between->started = !err;
	return err ? err : run_wait(run, &between->run);
}

static struct error *open_capturer(const struct capture_options *options, struct capturer **ret)
{
	PRIVILEGES_RAISED;
	struct error *err = privileges_keep(CAPTURE_OPEN_PRIVILEGES);

	if (!err)
		err = capturer_open(options, ret);
	return err ? err : privileges_keep(CAPTURE_READ_PRIVILEGES);
}

static struct error *take_both(const struct diff_arguments *arguments, struct between *between,
			       struct side sides[2])
{
	_cleanup_(capturer_close) struct capturer *capturer = NULL;
	_cleanup_(run_destroy) struct run *run = NULL;
	const bool keep = arguments->prefix != NULL;
	struct capture_options options = {
		.pids = arguments->target.pids.items,
		.pid_count = arguments->target.pids.count,
		.cgroup = arguments->target.cgroup,
	};
	struct error *err;

	reading_apply(&arguments->reading, &options);
	/* The command is there before privileges are dropped, for it has those that we were started
	 * with. It waits until the first capture is taken, and is not in that. */
	err = between->command ? run_start(between->command, &run) : NULL;
	if (run)
		options.skip_pid = (uint32_t)run_pid(run);
	between->started = !err;
	if (!err)
		err = open_capturer(&options, &capturer);
	if (!err)
		err = capture_side(capturer, keep, &sides[0]);
	if (err)
		return err;
	if (run)
		err = run_command(between, run);
	else
		wait_for(between->wait_ns);
	options.skip_pid = 0;
	/* A process that ended in between is an answer, too. */
	options.may_be_gone = true;
	return err ? err : capture_side(capturer, keep, &sides[1]);
}

/* The exit status of our failures differs from those of the command, as with env(1), nice(1) and
 * timeout(1). */
static int failure_status(const struct between *between, const struct error *err)
{
	if (!between->command)
		return STATUS_FAILED;
	if (!between->started)
		return err->errnum == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE;
	return STATUS_RUN_FAILED;
}

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static struct report_command command_of(const struct between *between)
{
	const struct rusage *usage = &between->run.usage;

	return (struct report_command){
		.name = between->command[0],
		.seconds = between->run.seconds,
		.cpu_s = seconds_of(&usage->ru_utime) + seconds_of(&usage->ru_stime),
		.faults = (uint64_t)usage->ru_minflt,
		.major_faults = (uint64_t)usage->ru_majflt,
		.waits = (uint64_t)usage->ru_nvcsw,
		.status = between->run.status,
	};
}

static int report(struct diff_arguments *arguments, const struct between *between,
		  const struct side sides[2])
{
	struct report_command command;
	struct error *err;
	int status;

	if (between->command && !arguments->quiet)
		run_print(between->command[0], &between->run);
	if (between->command) {
		command = command_of(between);
		arguments->display.style.command = &command;
	}
	status = display_print(&arguments->display, sides, 1, 2);
	/* The conditions may concern threads that were not read. */
	if (sides[0].snapshot->capture->cut_short || sides[1].snapshot->capture->cut_short)
		status = STATUS_FAILED;
	if (!between->command)
		return status;
	err = output_end();
	if (err)
		status = report_error(err, STATUS_FAILED);
	/* The command's own failure goes before what we found. */
	if (between->run.status)
		return between->run.status;
	return status == STATUS_FAILED ? STATUS_RUN_FAILED : status;
}

static int diff(struct diff_arguments *arguments, struct between *between)
{
	struct diff_paths paths;
	struct side sides[2] = { { 0 } };
	struct error *err = paths_init(&paths, arguments->prefix) ? NULL : &error_no_memory;
	int status;

	if (!err) {
		sides[0].name = paths.before;
		sides[1].name = paths.after;
		err = take_both(arguments, between, sides);
	}
	status = err ? report_error(err, failure_status(between, err))
		     : report(arguments, between, sides);
	for (size_t i = 0; i < 2; i++)
		snapshot_destroy((struct ctprof_snapshot *)(uintptr_t)sides[i].snapshot);
	paths_deinit(&paths);
	return status;
}

/* --- what was asked for --- */

static struct error *find_between(int argc, char **argv, int first, struct between *ret)
{
	if (first == argc)
		return error_create("diff requires a duration, or -- COMMAND");
	if (first > 1 && strcmp(argv[first - 1], "--") == 0) {
		ret->command = argv + first;
		return NULL;
	}
	for (int i = first; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return error_create("diff takes either a duration or a command, not both");
	if (!units_parse_seconds(text_of(argv[first]), &ret->wait_ns))
		return error_create(
			"invalid duration '%.60s': expected e.g. 10 (seconds), 500ms, 2min; a "
			"command follows --",
			argv[first]);
	if (first + 1 < argc)
		return error_create("diff takes one duration only");
	return NULL;
}

static int run_diff(const struct command *command, int argc, char **argv)
{
	struct diff_arguments arguments = { 0 };
	struct between between = { .started = true };
	struct error *err;
	int status, first;

	display_init(&arguments.display);
	first = options_parse(command, argc, argv, &arguments, &status);
	if (first >= 0) {
		err = find_between(argc, argv, first, &between);
		if (!err)
			err = display_settle(&arguments.display, DISPLAY_TWO);
		if (!err)
			display_window_usual(&arguments.display);
		arguments.display.unnamed = !arguments.prefix;
		status = err ? usage_error(command, err) : diff(&arguments, &between);
	}
	target_deinit(&arguments.target);
	display_deinit(&arguments.display);
	return status;
}

const struct command diff_command = {
	.name = "diff",
	.run = run_diff,
	.summary = "capture, wait or run a command, capture again, and compare",
	.operands = "DURATION | -- COMMAND [ARGUMENTS]",
	.operands_least = 0,
	.operands_most = INT32_MAX,
	.needs = "root for everything; otherwise, metrics that are denied are reported as "
		 "unmeasured",
	.drops_privileges = true,
	.examples = { "sudo ctprof diff 10s", "sudo ctprof diff 10s -p 4242 --group-by thread",
		      "sudo ctprof diff -- make -j8" },
	.options = diff_options,
	.option_count = array_length(diff_options),
};
