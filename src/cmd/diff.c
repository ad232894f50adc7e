/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture, wait or run a command, capture, compare.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"
#include "cmd/commands.h"
#include "cmd/display.h"
#include "cmd/target.h"
#include "snapshot/file.h"

struct diff_arguments {
	struct display display; /* first: the options of display know its place */
	struct target target;
	const char *prefix;
	bool quiet;
};

#define AT(member) offsetof(struct diff_arguments, member)

static const struct option_row diff_options[] = {
	{ "output", 'o', "PREFIX", parse_string, AT(prefix),
	  "Keep the two snapshots, as PREFIX.baseline.ctprof.zst and PREFIX.candidate.ctprof.zst.",
	  NULL, false },
	TARGET_OPTIONS(diff_arguments),
	{ "quiet", 'q', NULL, parse_flag, AT(quiet),
	  "Nothing on standard error about the command and the captures.", NULL, false },
	DISPLAY_OPTIONS(parse_compare_columns, compare_column_name, parse_compare_sort,
			compare_sort_name, SORT_ROWS_HELP),
	COMPARE_OPTIONS,
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
	struct sigaction usual;

	sigemptyset(&interrupt);
	/* Whoever starts us in the background has us ignore it. */
	if (sigaction(SIGINT, NULL, &usual) == 0 && usual.sa_handler != SIG_IGN)
		sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	while (is_left(&end, &left) && sigtimedwait(&interrupt, NULL, &left) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* --- running --- */

struct run {
	int status; /* as a shell has it */
	struct rusage usage;
	double seconds;
};

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What our caller had the keyboard do. */
struct keyboard {
	struct sigaction interrupt, quit;
};

/* In the child. What keeps the command from running goes through `failed`, which closes when it
 * runs. */
static void start_command(char **command, int failed, const struct keyboard *keyboard)
{
	int error;

	sigaction(SIGINT, &keyboard->interrupt, NULL);
	sigaction(SIGQUIT, &keyboard->quit, NULL);
	signal(SIGPIPE, inherited_sigpipe);
	execvp(command[0], command);
	error = errno;
	_exit(write(failed, &error, sizeof(error)) < 0);
}

static struct error *wait_for_command(pid_t pid, const char *name, struct run *ret)
{
	int status;

	while (wait4(pid, &status, 0, &ret->usage) < 0)
		if (errno != EINTR)
			return error_system(errno, "cannot wait for %s", name);
	ret->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return NULL;
}

static struct error *run_in_child(char **command, const struct keyboard *keyboard, struct run *ret)
{
	int pipe_ends[2], failed = 0;
	struct error *err;
	pid_t pid;

	if (pipe2(pipe_ends, O_CLOEXEC))
		return error_system(errno, "cannot start %s", command[0]);
	/* Standard output is the report's and the command's alike: what we hold goes first. */
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		start_command(command, pipe_ends[1], keyboard);
	close(pipe_ends[1]);
	if (pid > 0 && read(pipe_ends[0], &failed, sizeof(failed)) != sizeof(failed))
		failed = 0;
	close(pipe_ends[0]);
	if (pid < 0)
		return error_system(errno, "cannot start %s", command[0]);
	err = wait_for_command(pid, command[0], ret);
	return err || !failed ? err : error_system(failed, "%s", command[0]);
}

/* The keyboard interrupts the command, not the report about it. */
static struct error *run_command(char **command, struct run *ret)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct keyboard keyboard;
	double start = now();
	struct error *err;

	sigaction(SIGINT, &ignore, &keyboard.interrupt);
	sigaction(SIGQUIT, &ignore, &keyboard.quit);
	err = run_in_child(command, &keyboard, ret);
	sigaction(SIGINT, &keyboard.interrupt, NULL);
	sigaction(SIGQUIT, &keyboard.quit, NULL);
	ret->seconds = now() - start;
	return err;
}

/* Its own threads are gone by the second capture: what they used is known from here alone. */
static void print_run(const char *name, const struct run *run)
{
	char memory[UNITS_TEXT_MAX];

	fprintf(stderr,
		"ctprof: %s ended with %d after %.3f s: %.3f s user, %.3f s system, at most %s "
		"resident, %ld minor and %ld major faults, %ld voluntary and %ld involuntary "
		"switches\n",
		name, run->status, run->seconds, seconds_of(&run->usage.ru_utime),
		seconds_of(&run->usage.ru_stime),
		units_format(memory, UNIT_KIB, run->usage.ru_maxrss), run->usage.ru_minflt,
		run->usage.ru_majflt, run->usage.ru_nvcsw, run->usage.ru_nivcsw);
}

/* --- capturing --- */

static struct error *capture_side(const struct diff_arguments *arguments, bool second,
				  struct ctprof_snapshot **ret)
{
	const struct capture_options options = {
		.pids = arguments->target.pids.items,
		.pid_count = arguments->target.pids.count,
		.cgroup = arguments->target.cgroup,
		/* A process that ended in between is an answer, too. */
		.may_be_gone = second,
	};

	return capture_run(&options, ret);
}

/* The names of the two captures: their files, when they are kept. */
struct paths {
	char *before, *after;
};

static void paths_deinit(struct paths *paths)
{
	free(paths->before);
	free(paths->after);
}

static bool paths_init(struct paths *paths, const char *prefix)
{
	*paths = (struct paths){ 0 };
	if (!prefix) {
		paths->before = strdup("the first capture");
		paths->after = strdup("the second");
	} else if (asprintf(&paths->before, "%s.baseline.ctprof.zst", prefix) < 0 ||
		   asprintf(&paths->after, "%s.candidate.ctprof.zst", prefix) < 0) {
		return false;
	}
	return paths->before && paths->after;
}

/* What happens between the two: NULL for a command is a time to wait. */
struct between {
	char **command;
	uint64_t wait_ns;
	bool started; /* the command ran, or was not tried yet */
	struct run run;
};

/* A capture and the name it has in the report, which is its file when it is kept. */
static struct error *take_side(const struct diff_arguments *arguments, bool second,
			       struct side *ret)
{
	struct ctprof_snapshot *snapshot;
	struct error *err = capture_side(arguments, second, &snapshot);

	if (err)
		return err;
	ret->snapshot = snapshot;
	return arguments->prefix ? snapshot_save(snapshot, ret->name) : NULL;
}

static struct error *take_both(const struct diff_arguments *arguments, struct between *between,
			       struct side sides[2])
{
	struct error *err = take_side(arguments, false, &sides[0]);

	if (err)
		return err;
	if (between->command) {
		err = run_command(between->command, &between->run);
		between->started = !err;
	} else {
		wait_for(between->wait_ns);
	}
	return err ? err : take_side(arguments, true, &sides[1]);
}

/* As env(1), nice(1) and timeout(1) tell our failures from those of the command. */
static int failure_status(const struct between *between, const struct error *err)
{
	if (!between->command)
		return STATUS_FAILED;
	if (!between->started)
		return err->errnum == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE;
	return STATUS_RUN_FAILED;
}

static int report(const struct diff_arguments *arguments, const struct between *between,
		  const struct side sides[2])
{
	int status;

	if (between->command && !arguments->quiet)
		print_run(between->command[0], &between->run);
	status = display_print(&arguments->display, sides, 1, 2);
	if (!between->command)
		return status;
	if (fflush(stdout) || ferror(stdout)) {
		clearerr(stdout);
		status = report_error(error_system(errno, "standard output"), STATUS_FAILED);
	}
	/* The command's own failure goes before what we found. */
	if (between->run.status)
		return between->run.status;
	return status == STATUS_FAILED ? STATUS_RUN_FAILED : status;
}

static int diff(const struct diff_arguments *arguments, struct between *between)
{
	struct paths paths;
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
		return error_create("diff takes a time to wait, or -- COMMAND");
	if (first > 1 && strcmp(argv[first - 1], "--") == 0) {
		ret->command = argv + first;
		return NULL;
	}
	for (int i = first; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return error_create("diff takes a time to wait or a command, not both");
	if (!units_parse_duration(text_of(argv[first]), &ret->wait_ns))
		return error_create("'%.60s' is no time to wait (10s, 500ms, 2m); a command stands "
				    "after --",
				    argv[first]);
	if (first + 1 < argc)
		return error_create("diff takes one time to wait");
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
	.needs = "root gives everything; without it what is denied is unmeasured and named",
	.options = diff_options,
	.option_count = array_length(diff_options),
};
