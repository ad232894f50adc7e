/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The configuration and state of the programs of exact thread states, shared with user space like
 * the records (task_record.h).
 */
#ifndef SCHED_STATES_RECORD_H
#define SCHED_STATES_RECORD_H

#include "sched/task_record.h"
#include "sched/wait_rules.h"
#include "state/state.h"

struct states_config {
	/* By enum state, see STATES_PLACE(). As many as an index has that is cut by the mask, so
	 * that the verifier accepts it wherever the struct is. */
	__u8 places[RECORD_TIMES_MASK + 1];
};

struct states_state {
	__u32 missed; /* switches that no program was called for */
};

/*
 * The places of times in a record: the states of most switches come first, so that they share a
 * cache line. All other states follow, in the order of their rows.
 */
/* clang-format off */
#define STATES_FIRST(PLACE, ...)                                                               \
	PLACE(EXEC, __VA_ARGS__) PLACE(RUNNABLE, __VA_ARGS__) PLACE(SLEEP_NETWORK, __VA_ARGS__) \
	PLACE(SLEEP_PIPE, __VA_ARGS__) PLACE(IDLE_POLL, __VA_ARGS__)                            \
	PLACE(IDLE_COND, __VA_ARGS__)                                                           \
	PLACE(LOCK_FUTEX, __VA_ARGS__) PLACE(IDLE_WORKER, __VA_ARGS__)                          \
	PLACE(SLEEP_TIMER, __VA_ARGS__) PLACE(SLEEP_OTHER, __VA_ARGS__)                         \
	PLACE(SLEEP_DISK, __VA_ARGS__) PLACE(LOCK_KERNEL, __VA_ARGS__)                          \
	PLACE(EXEC_USER, __VA_ARGS__) PLACE(EXEC_SYSTEM, __VA_ARGS__)
/* clang-format on */

enum states_place {
#define STATES_PLACE_ENUM(id, ...) STATES_AT_##id,
	STATES_FIRST(STATES_PLACE_ENUM)
#undef STATES_PLACE_ENUM
		STATES_FIRST_COUNT
};

/* The place of a state, as a constant: 1 + its place if it is one of the first, else behind these,
 * without those of them that stand before it in THREAD_STATES. */
#define STATES_FIRST_PLACE(id, state)  +((state) == STATE_##id) * (1 + STATES_AT_##id)
#define STATES_FIRST_BEFORE(id, state) +((state) > STATE_##id)
#define STATES_PLACE(state)                                        \
	((0 STATES_FIRST(STATES_FIRST_PLACE, state))               \
		 ? (0 STATES_FIRST(STATES_FIRST_PLACE, state)) - 1 \
		 : STATES_FIRST_COUNT + (state) - (0 STATES_FIRST(STATES_FIRST_BEFORE, state)))

#endif
