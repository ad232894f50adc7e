/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks, and what threads say of themselves. */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "states.h"

#define NOTE_EVERY (4 * NS_PER_MS)

uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void nap(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	nanosleep(&time, NULL);
}

uint64_t run_delay(int schedstat)
{
	char text[100] = "";
	uint64_t delay;

	if (pread(schedstat, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%*u %" SCNu64, &delay) != 1)
		err(1, "schedstat");
	return delay;
}

int open_schedstat(void)
{
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "schedstat");
	return fd;
}

uint64_t number(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

void begin(struct life *life)
{
	__atomic_store_n(&life->has_begun, true, __ATOMIC_SEQ_CST);
}

bool has_begun(const struct life *life)
{
	return __atomic_load_n(&life->has_begun, __ATOMIC_SEQ_CST);
}

/* Readers see it once it is whole. */
static void note(struct life *life, struct note note)
{
	if (life->note_count == NOTES_MAX)
		errx(1, "%s runs for too long", life->behaviour->name);
	life->notes[life->note_count] = note;
	__atomic_add_fetch(&life->note_count, 1, __ATOMIC_SEQ_CST);
	begin(life);
}

static bool is_due(const struct life *life)
{
	return !life->note_count ||
	       now(CLOCK_REALTIME) >= life->notes[life->note_count - 1].at_unix_ns + NOTE_EVERY;
}

void note_thread(struct life *life)
{
	struct note n;
	uint64_t lived;

	if (!is_due(life))
		return;
	n = (struct note){ .runnable = run_delay(life->schedstat),
			   .at_unix_ns = now(CLOCK_REALTIME),
			   .exec = now(CLOCK_THREAD_CPUTIME_ID) };
	lived = now(CLOCK_MONOTONIC) - life->born;
	n.rest = lived > n.exec + n.runnable ? lived - n.exec - n.runnable : 0;
	note(life, n);
}

void note_process(struct life *life, uint64_t rest, uint64_t made)
{
	if (is_due(life))
		note(life, (struct note){ .at_unix_ns = now(CLOCK_REALTIME),
					  .exec = now(CLOCK_PROCESS_CPUTIME_ID),
					  .rest = rest,
					  .runnable = made });
}

void *live(void *argument)
{
	struct life *life = argument;

	prctl(PR_SET_NAME, life->behaviour->name);
	life->tid = gettid();
	life->born = now(CLOCK_MONOTONIC);
	if (life->notes)
		life->schedstat = open_schedstat();
	life->behaviour->run(life);
	errx(1, "%s has ended", life->behaviour->name);
}
