/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracer.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"

/* How long a thread may take to stop; one that waits for a child of vfork() does not. */
#define PATIENCE_NS 200000000u

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#define FOLLOWED (PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

/* --- which there are --- */

static pid_t process_of(pid_t tid)
{
	char path[64], line[128];
	FILE *file;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (!pid && fgets(line, sizeof(line), file))
		sscanf(line, "Tgid: %d", &pid);
	fclose(file);
	return pid;
}

static struct tracee *find(struct tracer *tracer, pid_t tid)
{
	for (size_t i = 0; i < tracer->threads.count; i++)
		if (tracer->threads.items[i].tid == tid)
			return &tracer->threads.items[i];
	return NULL;
}

static struct tracee *add(struct tracer *tracer, pid_t tid)
{
	struct tracee *known = find(tracer, tid);

	if (known)
		return known;
	if (!array_push(&tracer->threads, (struct tracee){ .tid = tid, .pid = process_of(tid) }))
		err(1, "threads");
	return &tracer->threads.items[tracer->threads.count - 1];
}

static void forget(struct tracer *tracer, pid_t tid)
{
	struct tracee *tracee = find(tracer, tid);

	if (tracee)
		*tracee = tracer->threads.items[--tracer->threads.count];
}

void tracer_run(struct tracer *tracer, char **argv)
{
	int ready[2];
	pid_t child;
	char byte = 0;

	tracer->options = FOLLOWED | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;
	if (pipe2(ready, O_CLOEXEC))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (child == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (read(ready[0], &byte, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	if (ptrace(PTRACE_SEIZE, child, NULL, tracer->options))
		err(1, "ptrace %d", (int)child);
	add(tracer, child);
	tracer->is_starting = true;
	if (write(ready[1], &byte, 1) != 1)
		err(1, "pipe");
	close(ready[0]);
	close(ready[1]);
}

bool tracer_seize(struct tracer *tracer, pid_t pid)
{
	char path[64];
	const struct dirent *entry;
	DIR *dir;
	size_t before = tracer->threads.count;

	tracer->options = FOLLOWED;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && ptrace(PTRACE_SEIZE, tid, NULL, tracer->options) == 0)
			add(tracer, tid);
	}
	closedir(dir);
	return tracer->threads.count > before;
}

/* --- what they report --- */

static void go_on(pid_t tid, int signal)
{
	ptrace(PTRACE_CONT, tid, NULL, signal);
}

static void look_at(struct tracer *tracer, struct tracee *tracee)
{
	struct user_regs_struct now;

	if (ptrace(PTRACE_GETREGS, tracee->tid, NULL, &now))
		return;
	if (tracer->is_starting ||
	    (tracee->was_seen && memcmp(&now, &tracee->registers, sizeof(now)) == 0))
		return;
	tracee->was_seen = true;
	tracee->registers = now;
	tracer->look(tracer->context, tracee);
}

static bool is_stop_signal(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Wait for this one for a moment. 0: it has nothing to say. */
static pid_t wait_a_while(pid_t tid, int *ret_status)
{
	const uint64_t end = now_ns() + 20000000;
	const struct timespec nap = { .tv_nsec = 50000 };
	sigset_t child;
	pid_t got;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while ((got = waitpid(tid, ret_status, __WALL | WNOHANG)) == 0 && now_ns() < end)
		sigtimedwait(&child, NULL, &nap);
	return got;
}

static void take_event(struct tracer *tracer, pid_t tid, int status);

static bool is_step(const struct tracee *tracee, int status)
{
	return tracee->is_stepped && WSTOPSIG(status) == SIGTRAP && !(status >> 16);
}

/* It is stopped, and goes on at the end. */
static void step(struct tracer *tracer, pid_t tid)
{
	struct tracee *tracee;
	int status;

	for (unsigned i = 0; i < tracer->steps && (tracee = find(tracer, tid)); i++) {
		tracee->is_stepped = true;
		/* One that is blocked in a system call comes later, if at all. */
		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, 0) || wait_a_while(tid, &status) != tid)
			return;
		if (!WIFSTOPPED(status) || !is_step(tracee, status)) {
			take_event(tracer, tid, status);
			return;
		}
		tracee->is_stepped = false;
		look_at(tracer, tracee);
	}
	go_on(tid, 0);
}

static void take_event(struct tracer *tracer, pid_t tid, int status)
{
	struct tracee *tracee;
	unsigned long message = 0;
	bool is_wanted;

	if (!WIFSTOPPED(status)) {
		forget(tracer, tid);
		return;
	}
	tracee = add(tracer, tid);
	/* Whatever it stops for first: the kernel forgets then that it was asked. */
	is_wanted = tracee->is_wanted;
	tracee->is_wanted = false;
	if (is_wanted)
		look_at(tracer, tracee);
	switch (status >> 16) {
	case 0:
		go_on(tid, is_step(tracee, status) ? 0 : WSTOPSIG(status));
		return;
	case PTRACE_EVENT_STOP:
		tracee->is_stepped = false;
		if (is_stop_signal(WSTOPSIG(status)))
			ptrace(PTRACE_LISTEN, tid, NULL, 0);
		else if (is_wanted && tracer->steps)
			step(tracer, tid);
		else
			go_on(tid, 0);
		return;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) == 0)
			add(tracer, (pid_t)message);
		break;
	case PTRACE_EVENT_EXEC:
		tracer->is_starting = false;
		/* The first thread's number is that of whoever called it. */
		if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) == 0 && (pid_t)message != tid)
			forget(tracer, (pid_t)message);
		break;
	}
	go_on(tid, 0);
}

static void take_events(struct tracer *tracer)
{
	int status;
	pid_t tid;

	/* Some give signals to themselves without end. */
	for (int i = 0; i < 100 && (tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0; i++)
		take_event(tracer, tid, status);
}

bool tracer_pass(struct tracer *tracer, uint64_t us)
{
	const uint64_t end = now_ns() + us * 1000;
	sigset_t child;
	uint64_t now;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	do {
		struct timespec left;

		take_events(tracer);
		if (!tracer->threads.count)
			return false;
		now = now_ns();
		if (now >= end)
			break;
		left = (struct timespec){ .tv_sec = (time_t)((end - now) / 1000000000u),
					  .tv_nsec = (long)((end - now) % 1000000000u) };
		sigtimedwait(&child, NULL, &left);
	} while (now < end);
	return true;
}

/* --- stops --- */

static bool is_running(const struct tracee *tracee)
{
	char path[64], line[512];
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)tracee->pid, (int)tracee->tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	state = strrchr(line, ')');
	return state && state[1] && state[2] == 'R';
}

static bool ask(struct tracee *tracee)
{
	if (tracee->is_wanted)
		return false;
	tracee->asked_ns = now_ns();
	tracee->is_wanted = ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, 0) == 0;
	return tracee->is_wanted;
}

/* Until those that were asked have come, but for those that do not. */
static void wait_for_asked(struct tracer *tracer)
{
	const uint64_t end = now_ns() + PATIENCE_NS;
	bool is_wanted = true;

	while (is_wanted && now_ns() < end) {
		const uint64_t now = now_ns();

		is_wanted = false;
		take_events(tracer);
		for (size_t i = 0; i < tracer->threads.count; i++)
			is_wanted |= tracer->threads.items[i].is_wanted &&
				     now - tracer->threads.items[i].asked_ns < PATIENCE_NS;
		if (is_wanted && !tracer_pass(tracer, 50))
			return;
	}
}

#define AT_ONCE     8
#define OF_SLEEPERS 16 /* one of so many */

void tracer_stop_some(struct tracer *tracer)
{
	size_t asked = 0, start;

	if (!tracer->threads.count)
		return;
	start = (size_t)random() % tracer->threads.count;
	for (size_t i = 0; i < tracer->threads.count && asked < AT_ONCE; i++) {
		struct tracee *tracee = &tracer->threads.items[(start + i) % tracer->threads.count];

		if (tracee->was_seen && random() % OF_SLEEPERS && !is_running(tracee))
			continue;
		asked += ask(tracee);
	}
	if (asked)
		wait_for_asked(tracer);
}

void tracer_stop_all(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->threads.count; i++)
		ask(&tracer->threads.items[i]);
	wait_for_asked(tracer);
}

void tracer_let_go(struct tracer *tracer)
{
	/* Who is not stopped cannot be let go. */
	for (int i = 0; i < 2 && tracer->threads.count; i++) {
		int status;

		for (size_t at = tracer->threads.count; at-- > 0;) {
			const pid_t tid = tracer->threads.items[at].tid;

			ptrace(PTRACE_INTERRUPT, tid, NULL, 0);
			if (wait_a_while(tid, &status) != tid)
				continue;
			if (WIFSTOPPED(status))
				ptrace(PTRACE_DETACH, tid, NULL,
				       status >> 16 ? 0 : WSTOPSIG(status));
			forget(tracer, tid);
		}
	}
	tracer->threads.count = 0;
}
