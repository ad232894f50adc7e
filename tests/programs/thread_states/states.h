/* SPDX-License-Identifier: BSD-2-Clause */
/* What the behaviours of `states` (main.c) are made of. */
#ifndef STATES_H
#define STATES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)
#define PAGE      4096
#define NOTES_MAX 32768

struct life;

/* A group has one row for each kind of thread in it. */
struct behaviour {
	const char *group, *name;
	const char *expected; /* as main.c says */
	void (*run)(struct life *life);
	bool is_child;
	unsigned count; /* 0: one */
};

/* Each ends with a row without names. */
extern const struct behaviour cpu_behaviours[], wait_behaviours[], lock_behaviours[],
	process_behaviours[];
/* Those that `many` starts itself; their lives come after its own. */
extern const struct behaviour one_of_many;
#define MANY number("STATES_MANY", 10000)

/* What a thread had done as of a moment. */
struct note {
	uint64_t at_unix_ns, exec, rest;
	uint64_t runnable; /* of a process: how many threads it has made */
};

/* One thread, in memory that children share. */
struct life {
	const struct behaviour *behaviour;
	pthread_t thread;
	pid_t tid;
	bool has_begun;
	uint64_t born;      /* by CLOCK_MONOTONIC */
	int schedstat;      /* open, of its own */
	struct note *notes; /* of who knows by itself; else NULL */
	size_t note_count;
};

/* Become the life of this thread, which has the behaviour of it and does not return; for
 * pthread_create. */
void *live(void *life);

/* From now on it does what is expected of it. */
void begin(struct life *life);
bool has_begun(const struct life *life);

/* Now and then: what this thread has done, by its own clocks; or its process, of which only it
 * knows the rest and how many threads it has made. The first one begins. */
void note_thread(struct life *life);
void note_process(struct life *life, uint64_t rest, uint64_t made);

uint64_t now(clockid_t clock);
void nap(uint64_t ns);

/* Of this thread. How long it waited for a CPU, by the kernel. */
int open_schedstat(void);
uint64_t run_delay(int schedstat);

/* A variable of the environment. */
uint64_t number(const char *variable, uint64_t otherwise);

#endif
