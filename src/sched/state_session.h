/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact states of every thread, added up in the kernel by BPF programs at sched_switch.
 *
 *	struct state_session *session;
 *	struct error *err = state_session_open(&session);
 *	err = state_session_read(session, take, context);
 *	state_session_close(session);
 *
 * Needs CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN), and a kernel with BTF. What was before it was
 * opened is not known: threads are tracked from then on.
 */
#ifndef SCHED_STATE_SESSION_H
#define SCHED_STATE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "sched/states_record.h"

struct state_session;

/* Facts that depend on the kernel. */
struct state_session_facts {
	bool has_locks;  /* waits for locks of the kernel (Linux 5.19) */
	bool has_paging; /* waits for pages from swap; false from when there is something on
			  * swap and the kernel hides the address of its code (kernel.kptr_restrict)
			  */
};

/* The place of each state's time in a record. */
extern const unsigned char states_places[STATE_COUNT];

struct error *state_session_open(struct state_session **ret) MUST_CHECK;
struct state_session_facts state_session_facts(const struct state_session *session);

/* Take the times of threads that have ended, so that their records can be used again, and add room.
 * To be called some times a second: a host may begin thousands of threads in one. */
struct error *state_session_tick(struct state_session *session) MUST_CHECK;

/* Called for each thread, with its state at `now_ns` (CLOCK_MONOTONIC), which is not before the
 * start of that state. Returning false ends the visit. */
typedef bool state_visit(void *context, uint32_t number, const struct task_record *thread,
			 uint64_t now_ns);

/* Visit all threads that live, and all that have ended since the last call. */
struct error *state_session_read(struct state_session *session, state_visit *visit,
				 void *context) MUST_CHECK;

/* Threads without room, so far. */
uint64_t state_session_lost(const struct state_session *session);

/* The number of records, summed over all readings, that were being written at each attempt to read
 * them. This happens if the host of a guest stops a CPU in the middle of a write. */
uint64_t state_session_torn(const struct state_session *session);

/* A record as it was at one moment, with the wait over that ended when the thread got a CPU. False:
 * it was being written at each attempt. */
bool state_session_copy(const struct task_record *t, struct task_record *ret) MUST_CHECK;

/* The cost of the programs up to the last reading: the switches counted so far, times the cost of
 * one in the first second by the kernel's own count. 0 without CAP_SYS_ADMIN, which that count
 * needs.
 */
uint64_t state_session_program_ns(const struct state_session *session);

/* Takes NULL. */
void state_session_close(struct state_session *session);

#endif
