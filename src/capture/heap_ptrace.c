/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/heap_ptrace.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A thread in uninterruptible sleep does not stop. */
#define WAIT_NS   ((uint64_t)250 * 1000 * 1000)
#define PAUSE_MAX ((uint64_t)1000 * 1000)

/* After as many that did not stop, the rest of the process is not tried: each costs the whole wait.
 */
#define STUCK_MAX 4

#if defined(__x86_64__)
static bool thread_pointer(pid_t tid, uint64_t *ret)
{
	struct user_regs_struct registers;
	struct iovec room = { &registers, sizeof(registers) };

	/* A thread that runs 32-bit code has fewer. */
	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &room) || room.iov_len != sizeof(registers))
		return false;
	*ret = registers.fs_base;
	return true;
}
#elif defined(__aarch64__)
static bool thread_pointer(pid_t tid, uint64_t *ret)
{
	uint64_t registers[2]; /* with SME there is a second one */
	struct iovec room = { registers, sizeof(registers) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &room) || room.iov_len < sizeof(*registers))
		return false;
	*ret = registers[0];
	return true;
}
#else
static bool thread_pointer(pid_t tid, uint64_t *ret)
{
	(void)tid;
	(void)ret;
	return false;
}
#endif

static void pause_ns(uint64_t ns)
{
	const struct timespec pause = { .tv_nsec = (long)ns };

	nanosleep(&pause, NULL);
}

/* Wait until the thread has stopped. `ret` is the signal that it was about to get, and must get in
 * the end; 0: none. */
static enum probe_failure wait_for_stop(pid_t tid, int *ret)
{
	uint64_t waited = 0, pause = 10 * 1000;
	int status;

	for (;;) {
		pid_t seen = waitpid(tid, &status, __WALL | WNOHANG);

		if (seen == tid && WIFSTOPPED(status)) {
			*ret = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
			return PROBE_DONE;
		}
		if (seen == tid || (seen < 0 && errno != EINTR))
			return PROBE_PID_MISSING;
		if (waited >= WAIT_NS)
			return PROBE_WAITPID;
		pause_ns(pause);
		waited += pause;
		pause = pause * 2 < PAUSE_MAX ? pause * 2 : PAUSE_MAX;
	}
}

/* A number may have passed to a thread of another process. */
static bool is_of_process(const struct heap_trace *trace, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "%" PRIu32 "/task/%" PRIu32, trace->tgid, tid);
	return faccessat(trace->proc, path, F_OK, 0) == 0;
}

/* The thread is ours: until it has stopped it cannot be let go of but by ending. */
static enum probe_failure read_traced(const struct heap_trace *trace, uint32_t tid, uint64_t *ret)
{
	enum probe_failure failure;
	int signal;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return errno == ESRCH ? PROBE_PID_MISSING : PROBE_PTRACE_INTERRUPT;
	failure = wait_for_stop((pid_t)tid, &signal);
	if (failure)
		return failure;
	if (!is_of_process(trace, tid))
		failure = PROBE_PID_MISSING;
	else if (!thread_pointer((pid_t)tid, ret) || !*ret)
		failure = PROBE_GET_REGSET;
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal);
	return failure;
}

static enum probe_failure read_thread(const struct heap_trace *trace, uint32_t tid, uint64_t *ret)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return errno == ESRCH ? PROBE_PID_MISSING : PROBE_PTRACE_SEIZE;
	return read_traced(trace, tid, ret);
}

static void *trace_all(void *context)
{
	const struct heap_trace *trace = context;
	unsigned stuck = 0;

	for (size_t i = 0; i < trace->count; i++) {
		struct heap_counters *thread = &trace->threads[i];

		if (thread->failure || thread->thread_pointer)
			continue;
		thread->failure = stuck < STUCK_MAX ? read_thread(trace, trace->tids[i],
								  &thread->thread_pointer)
						    : PROBE_WAITPID;
		stuck += thread->failure == PROBE_WAITPID;
	}
	return NULL;
}

void heap_trace(const struct heap_trace *trace)
{
	sigset_t all, before;
	pthread_t tracer;
	int failed;

	/* Signals to us are for the thread that has always been there. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&tracer, NULL, trace_all, (void *)(uintptr_t)trace);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		pthread_join(tracer, NULL);
	for (size_t i = 0; failed && i < trace->count; i++)
		if (!trace->threads[i].failure && !trace->threads[i].thread_pointer)
			trace->threads[i].failure = PROBE_PTRACE_SEIZE;
}
