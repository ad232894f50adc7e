/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The configuration and state of the programs of exact thread states, shared with user space like
 * the records (task_record.h).
 */
#ifndef SCHED_STATES_RECORD_H
#define SCHED_STATES_RECORD_H

#include "sched/task_record.h"
#include "state/state.h"
#include "state/wait.h"

struct states_config {
	__u8 has_casts;            /* bpf_rdonly_cast() (Linux 6.2) */
	__u8 places[STATE_COUNT];  /* enum states_place by enum state */
	__u8 waits[WAIT_SYSCALLS]; /* enum wait_kind by number of system call */
};

/* Addresses in the kernel. */
struct states_state {
	/* The file operations of these kinds of files. */
	__u64 socket_functions, pipe_functions, timer_functions;
	/* The code that reads anonymous memory back from swap; 0: nothing is on swap. */
	__u64 swap_begin, swap_end;
	/* The code that opens FIFOs; 0: it was not found. */
	__u64 fifo_begin, fifo_end;
	__u32 missed; /* switches that no program was called for */
};

/* The argument of probe_environment(). */
struct states_examples {
	__u32 socket, pipe, timer; /* files of ours; UINT32_MAX: there is none of that kind */
};

/*
 * The place of a state's time in a record: the states of most switches come first, so that they
 * share a cache line.
 */
/* clang-format off */
#define STATES_PLACES(PLACE)                                          \
	PLACE(EXEC) PLACE(RUNNABLE) PLACE(SLEEP_NETWORK)              \
	PLACE(SLEEP_PIPE) PLACE(LOCK_FUTEX) PLACE(IDLE)               \
	PLACE(SLEEP_TIMER) PLACE(SLEEP_OTHER) PLACE(SLEEP_DISK)       \
	PLACE(LOCK_KERNEL) PLACE(EXEC_USER) PLACE(EXEC_SYSTEM)        \
	PLACE(PAGING) PLACE(STOPPED) PLACE(SLEEP) PLACE(LOCK)
/* clang-format on */

enum states_place {
#define STATES_PLACE_ENUM(id) STATES_AT_##id,
	STATES_PLACES(STATES_PLACE_ENUM)
#undef STATES_PLACE_ENUM
		STATES_PLACE_COUNT
};
_Static_assert((int)STATES_PLACE_COUNT == (int)STATE_COUNT,
	       "STATES_PLACES has a place for each row of THREAD_STATES (state/state.h)");
_Static_assert((int)STATE_COUNT <= RECORD_TIMES,
	       "no time for each state: double RECORD_TIMES (sched/task_record.h)");

#endif
