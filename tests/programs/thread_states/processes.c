/* SPDX-License-Identifier: BSD-2-Clause */
/* Children, and threads that are born, die, or are many. */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "states.h"

static void run_stopped(struct life *life)
{
	begin(life);
	raise(SIGSTOP);
}

static void run_traced(struct life *life)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		err(1, "ptrace");
	begin(life);
	raise(SIGSTOP);
}

/* It cannot be interrupted, and waits for no disk. */
static void run_vfork(struct life *life)
{
	begin(life);
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

static void run_parent(struct life *life)
{
	const pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	begin(life);
	for (;;)
		waitpid(child, NULL, 0);
}

/* Written once, and then only read: what goes to swap need not be written again. */
static void run_paging(struct life *life)
{
	const size_t size = number("STATES_MIB", 16) << 20;
	volatile char *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "memory");
	madvise((void *)memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += PAGE)
		memory[at] = (char)(at / PAGE + 1);
	for (;;)
		for (size_t at = 0; at < size; at += PAGE) {
			(void)memory[at];
			note_thread(life);
		}
}

static uint64_t naps_ns;

static void *live_shortly(void *unused)
{
	const uint64_t cpu = 2 * NS_PER_MS;
	uint64_t begun, slept, delay;
	int schedstat = open_schedstat();

	prctl(PR_SET_NAME, "short-lived");
	while (now(CLOCK_THREAD_CPUTIME_ID) < cpu)
		;
	delay = run_delay(schedstat);
	begun = now(CLOCK_MONOTONIC);
	nap(3 * NS_PER_MS);
	slept = now(CLOCK_MONOTONIC) - begun;
	delay = run_delay(schedstat) - delay;
	close(schedstat);
	__atomic_add_fetch(&naps_ns, slept > delay ? slept - delay : 0, __ATOMIC_SEQ_CST);
	return unused;
}

static void run_short(struct life *life)
{
	pthread_t thread;

	for (uint64_t made = 0;; made++) {
		note_process(life, naps_ns, made);
		if (pthread_create(&thread, NULL, live_shortly, NULL))
			errx(1, "no thread");
		pthread_join(thread, NULL);
	}
}

#define ALIVE_MAX 32 /* so that a busy host is not made busier */

static sem_t room;

static void *live_and_die(void *unused)
{
	for (volatile unsigned i = 0; i < 40000; i++)
		;
	sem_post(&room);
	return unused;
}

static void run_births(struct life *life)
{
	const uint64_t pause = NS_PER_S / number("STATES_BIRTHS", 5000);
	pthread_attr_t attributes;
	pthread_t thread;
	uint64_t made = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	sem_init(&room, 0, ALIVE_MAX);
	for (uint64_t next = now(CLOCK_MONOTONIC);; next += pause) {
		note_process(life, 0, made++);
		sem_wait(&room);
		/* Those that have ended may not be gone yet: the kernel says EAGAIN. */
		while (pthread_create(&thread, &attributes, live_and_die, NULL))
			nap(NS_PER_MS);
		if (now(CLOCK_MONOTONIC) < next)
			nap(NS_PER_MS);
	}
}

static void run_many(struct life *life)
{
	const uint64_t count = MANY;
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (uint64_t i = 1; i <= count; i++)
		if (pthread_create(&life[i].thread, &attributes, live, &life[i]))
			errx(1, "no thread %" PRIu64, i);
	begin(life);
	for (;;)
		pause();
}

static void run_one_of_many(struct life *life)
{
	begin(life);
	for (;;)
		nap(1000 * NS_PER_S);
}

const struct behaviour one_of_many = { "many", "many", "sleep_timer", run_one_of_many, false, 0 };

const struct behaviour process_behaviours[] = {
	{ "stopped", "stopped", "stopped", run_stopped, true, 0 },
	{ "traced", "traced", "stopped", run_traced, true, 0 },
	{ "paging", "paging", "mixed:paging", run_paging, true, 0 },
	{ "short", "short", "process:sleep_timer", run_short, true, 0 },
	{ "births", "births", "process:none", run_births, true, 0 },
	{ "many", "many-parent", "idle", run_many, true, 0 },
	{ "vfork", "vfork", "sleep_other", run_vfork, false, 0 },
	{ "parent", "parent", "sleep_child", run_parent, false, 0 },
	{ 0 },
};
