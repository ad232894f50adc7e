/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/commands.h"
#include "security/privileges.h"

/* The dispositions of the keyboard's signals that ctprof inherited. */
struct keyboard {
	struct sigaction interrupt, quit;
};

struct run {
	char **command;
	pid_t pid;   /* 0: there is none, or none any more */
	int channel; /* to the child, until it runs */
	int fd;      /* of its end */
	struct keyboard keyboard;
	uint64_t begun_ns;
	struct rusage before; /* of the child, until it was the command */
	bool has_ended;
	struct run_result result;
};

/* Runs in the child. A byte on the channel starts the command. The child writes its own resource
 * usage to the channel, and the error if execve(2) fails; both ends close on success. */
static void be_command(const struct run *run, int channel)
{
	struct rusage before;
	int error;
	char go;

	sigaction(SIGINT, &run->keyboard.interrupt, NULL);
	sigaction(SIGQUIT, &run->keyboard.quit, NULL);
	signal(SIGPIPE, inherited_sigpipe);
	if (TEMP_FAILURE_RETRY(recv(channel, &go, 1, 0)) != 1)
		_exit(STATUS_RUN_FAILED);
	environ = privileges_environment();
	getrusage(RUSAGE_SELF, &before);
	if (send(channel, &before, sizeof(before), MSG_NOSIGNAL) < 0)
		_exit(STATUS_RUN_FAILED);
	execvp(run->command[0], run->command);
	error = errno;
	_exit(send(channel, &error, sizeof(error), MSG_NOSIGNAL) < 0);
}

static struct error *start_child(struct run *run)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_system(errno, "cannot start %s", run->command[0]);
	run->channel = ends[0];
	sigaction(SIGINT, &ignore, &run->keyboard.interrupt);
	sigaction(SIGQUIT, &ignore, &run->keyboard.quit);
	/* Standard output is the report's and the command's alike: what we hold goes first. */
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		/* Otherwise, it would not notice the end of ctprof. */
		close(ends[0]);
		be_command(run, ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		struct error *err = error_system(errno, "cannot start %s", run->command[0]);

		sigaction(SIGINT, &run->keyboard.interrupt, NULL);
		sigaction(SIGQUIT, &run->keyboard.quit, NULL);
		return err;
	}
	run->pid = pid;
	run->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return NULL;
}

struct error *run_start(char **command, struct run **ret)
{
	struct run *run = calloc(1, sizeof(*run));
	struct error *err;

	if (!run)
		return &error_no_memory;
	*run = (struct run){ .command = command, .channel = -1, .fd = -1 };
	err = start_child(run);
	if (err) {
		run_destroy(run);
		return err;
	}
	*ret = run;
	return NULL;
}

pid_t run_pid(const struct run *run)
{
	return run->pid;
}

int run_fd(const struct run *run)
{
	return run->fd;
}

#define EXEC_KIB 256

static void take_away(struct timeval *all, const struct timeval *part)
{
	struct timeval rest;

	timersub(all, part, &rest);
	*all = timercmp(all, part, <) ? (struct timeval){ 0 } : rest;
}

static long minus_or_zero(long all, long part)
{
	return all > part ? all - part : 0;
}

/* The kernel adds what a process was before exec to what it is then, and the peak of its memory is
 * of both (setmax_mm_hiwater_rss() in fs/exec.c). */
static void leave_out_child(struct run_result *result, const struct rusage *before)
{
	struct rusage *usage = &result->usage;

	take_away(&usage->ru_utime, &before->ru_utime);
	take_away(&usage->ru_stime, &before->ru_stime);
	usage->ru_minflt = minus_or_zero(usage->ru_minflt, before->ru_minflt);
	usage->ru_majflt = minus_or_zero(usage->ru_majflt, before->ru_majflt);
	usage->ru_nvcsw = minus_or_zero(usage->ru_nvcsw, before->ru_nvcsw);
	usage->ru_nivcsw = minus_or_zero(usage->ru_nivcsw, before->ru_nivcsw);
	/* exec itself touches pages, and the kernel counts a CPU's pages in batches. */
	result->peak_is_ours =
		usage->ru_maxrss <= before->ru_maxrss + before->ru_maxrss / 16 + EXEC_KIB;
}

/* Whatever is left of it when it has ended. */
static void end_child(struct run *run, int status)
{
	run->has_ended = true;
	leave_out_child(&run->result, &run->before);
	run->result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (run->begun_ns)
		run->result.seconds =
			(double)(clock_ns(CLOCK_MONOTONIC) - run->begun_ns) / NS_PER_S;
	sigaction(SIGINT, &run->keyboard.interrupt, NULL);
	sigaction(SIGQUIT, &run->keyboard.quit, NULL);
}

/* Returns 0 or an errno; `how` is WNOHANG or 0. */
static int wait_for_child(struct run *run, int how)
{
	int status;
	pid_t pid;

	if (run->has_ended)
		return 0;
	while ((pid = wait4(run->pid, &status, how, &run->result.usage)) < 0)
		if (errno != EINTR)
			return errno;
	if (pid)
		end_child(run, status);
	return 0;
}

bool run_has_ended(struct run *run)
{
	return wait_for_child(run, WNOHANG) || run->has_ended;
}

struct error *run_wait(struct run *run, struct run_result *ret)
{
	int failed = wait_for_child(run, 0);

	if (failed)
		return error_system(failed, "cannot wait for %s", run->command[0]);
	*ret = run->result;
	return NULL;
}

struct error *run_go(struct run *run)
{
	struct run_result result;
	struct error *err;
	int failed = 0;

	run->begun_ns = clock_ns(CLOCK_MONOTONIC);
	/* A child that was killed while it waited has closed its end, and run_wait sees its end. */
	if (send(run->channel, "", 1, MSG_NOSIGNAL) == 1 &&
	    TEMP_FAILURE_RETRY(recv(run->channel, &run->before, sizeof(run->before), 0)) ==
		    sizeof(run->before) &&
	    TEMP_FAILURE_RETRY(recv(run->channel, &failed, sizeof(failed), 0)) != sizeof(failed))
		failed = 0;
	close(take_fd(run->channel));
	if (!failed)
		return NULL;
	err = run_wait(run, &result);
	error_destroy(err);
	return error_system(failed, "%s", run->command[0]);
}

void run_destroy(struct run *run)
{
	struct run_result result;

	if (!run)
		return;
	/* The child sees the channel close, and exits. */
	if (run->channel >= 0) {
		close(run->channel);
		if (run->pid)
			error_destroy(run_wait(run, &result));
	} else if (run->pid && !run->has_ended) {
		sigaction(SIGINT, &run->keyboard.interrupt, NULL);
		sigaction(SIGQUIT, &run->keyboard.quit, NULL);
	}
	if (run->fd >= 0)
		close(run->fd);
	free(run);
}

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

void run_print(const char *name, const struct run_result *result)
{
	char memory[UNITS_TEXT_MAX];

	fprintf(stderr,
		"ctprof: %s ended with %d after %.3f s: %.3f s user, %.3f s system, at most %s "
		"resident%s, %ld minor and %ld major faults, %ld voluntary and %ld involuntary "
		"switches\n",
		name, result->status, result->seconds, seconds_of(&result->usage.ru_utime),
		seconds_of(&result->usage.ru_stime),
		units_format(memory, UNIT_KIB, result->usage.ru_maxrss),
		result->peak_is_ours ? " (ctprof's own, before exec; the command had no more)" : "",
		result->usage.ru_minflt, result->usage.ru_majflt, result->usage.ru_nvcsw,
		result->usage.ru_nivcsw);
}
