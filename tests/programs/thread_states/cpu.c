/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that want a CPU. */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "states.h"

static void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %ld", cpu);
}

static void run_spin(struct life *life)
{
	for (;;) {
		for (volatile unsigned i = 0; i < 100000; i++)
			;
		note_thread(life);
	}
}

/* Calls that take no time would be user code to a clock that looks when interrupts are let in. */
static void run_syscalls(struct life *life)
{
	static char zeroes[256 << 10];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (;;) {
		for (unsigned i = 0; i < 16; i++)
			if (read(fd, zeroes, sizeof(zeroes)) != sizeof(zeroes))
				err(1, "/dev/zero");
		note_thread(life);
	}
}

static void run_pair(struct life *life)
{
	pin(0);
	run_spin(life);
}

static volatile pid_t starved;

/* It would wait for long to say that it begins. */
static void run_hog(struct life *life)
{
	const struct sched_param none = { 0 };

	pin(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	while (!starved)
		nap(NS_PER_MS);
	if (sched_setscheduler(starved, SCHED_IDLE, &none))
		err(1, "SCHED_IDLE");
	run_spin(life);
}

static void run_starved(struct life *life)
{
	pin(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	begin(life);
	starved = life->tid;
	for (;;)
		;
}

const struct behaviour cpu_behaviours[] = {
	{ "spin", "spin", "mixed:none", run_spin, false, 0 },
	{ "syscalls", "syscalls", "mixed:none", run_syscalls, false, 0 },
	{ "pair", "pair", "mixed:none", run_pair, false, 2 },
	{ "starved", "hog", "mixed:none", run_hog, false, 0 },
	{ "starved", "starved", "runnable", run_starved, false, 0 },
	{ 0 },
};
