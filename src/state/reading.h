/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times of every thread as of a moment. Engines fill readings, and a window is made of two.
 *
 * Times only grow, and include waits in progress: a thread that has been waiting for a minute has
 * that minute. Those of a thread add up to `seen_ns - begun_ns`, where the engine is exact.
 */
#ifndef STATE_READING_H
#define STATE_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/names.h"
#include "state/state.h"

/* Nanoseconds in each state. */
struct state_times {
	uint64_t ns[STATE_COUNT];
};

struct state_thread {
	uint32_t tid, tgid;
	uint64_t id; /* one thread's alone, as long as the engine is open: tids are used again */
	uint32_t uid;
	uint32_t cpu; /* UINT32_MAX: not known */
	bool is_kernel;
	bool has_ended;                             /* in this reading for the last time */
	uint32_t host;                              /* its number in state_hosts; else 0 */
	const struct name *name, *process, *cgroup; /* interned; cgroup may be NULL */
	uint64_t begun_ns;                          /* tracked from then on; CLOCK_MONOTONIC */
	uint64_t seen_ns;                           /* as of when; of ended ones their end */
	struct state_times times;
	enum state state;    /* what it does now; STATE_COUNT: not known */
	uint64_t since_ns;   /* since when; 0: not known */
	bool since_is_least; /* or for longer: it was so when watching began */
	/* its exit status, as wait(2) returns it; not all engines know it */
	bool has_exit_code;
	uint32_t exit_code;
	int32_t syscall;   /* in which it waits; -1: in none, or not known */
	uint64_t switches; /* times it left a CPU */
};

/* Cost and losses of the engine, since it was opened. */
struct state_cost {
	uint64_t program_ns;        /* of BPF programs, by the kernel's own count */
	uint64_t own_cpu_ns;        /* of this process */
	uint64_t threads_lost;      /* that there was no room for */
	uint64_t threads_torn;      /* that could not be read, in each reading without them */
	uint64_t delays_impossible; /* that were left out: longer than their thread lived */
};

struct state_reading {
	uint64_t at_ns;      /* CLOCK_MONOTONIC */
	uint64_t at_unix_ns; /* CLOCK_REALTIME */
	unsigned measured;   /* a bit for each state that the engine can tell; others are part of
			      * wider ones */
	struct {
		ARRAY(struct state_thread);
	} threads;
	struct state_cost cost;
	/* No thread is missing that was tracked: if the reading before lacks a thread, it has done
	 * nothing until then. */
	bool is_complete;
};

/* The hosts whose threads a window has; none, unless it is of a query (top/replay_engine.h). */
struct state_hosts {
	const struct name *const *names; /* by number; they live as long as the replay */
	size_t count, observed;          /* observed: of so many there are times in the window */
};

/* The name of a thread's host; NULL: it has none. */
static inline const struct name *state_host_name(const struct state_hosts *hosts,
						 const struct state_thread *thread)
{
	return thread->host < hosts->count ? hosts->names[thread->host] : NULL;
}

/* Are the threads those of several hosts? Rows must say then of which. */
static inline bool state_hosts_differ(const struct state_hosts *hosts)
{
	return hosts->count > 1;
}

/* May be called again, and the reading used again. */
void state_reading_deinit(struct state_reading *reading);

/* --- the rows of state.h --- */

struct state_row {
	const char *name, *label, *prose;
	enum state main;
	char letter;
};
extern const struct state_row state_rows[STATE_COUNT];
extern const enum state state_mains[STATE_MAIN_COUNT];

static inline bool state_is_main(enum state state)
{
	return state_rows[state].main == state;
}

/* Is it among these, by a bit for each? A whole state is known where its own row is, which holds
 * the part that could not be divided. */
bool state_is_measured(unsigned measured, enum state state);

/* Is it, or any part of it? */
bool state_is_measured_in_part(unsigned measured, enum state state);

/* In a main state with all its parts, or in a part. */
uint64_t state_times_of(const struct state_times *times, enum state state);
void state_times_add(struct state_times *times, const struct state_times *more);

#endif
