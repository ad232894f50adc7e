/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the programs of exact thread states and who reads them share.
 *
 * Each thread has a record with its times, in memory that user space maps: reading costs no system
 * call. A record is of one thread, from when it is first seen until it has ended and user space has
 * read that; then its number goes to `free_numbers`, to be another thread's.
 */
#ifndef SCHED_STATES_RECORD_H
#define SCHED_STATES_RECORD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "state/state.h"
#include "state/wait.h"

#define STATES_CHUNK_BITS  9
#define STATES_CHUNK       (1u << STATES_CHUNK_BITS)
#define STATES_CHUNKS_MAX  8192

#define STATES_FREE        (1u << 16) /* numbers that wait to be used again */

#define STATES_NUMBER_BITS 22         /* of a record; 0 is none */
#define STATES_KNOWN       (1u << 16) /* threads whose records are found at once */

struct states_config {
	__u8 is_weakly_ordered;    /* stores may be seen in another order than they were made */
	__u8 has_previous_state;   /* sched_switch has it as an argument (Linux 5.18) */
	__u8 has_casts;            /* bpf_rdonly_cast() (Linux 6.2) */
	__u8 places[STATE_COUNT];  /* enum states_place by enum state */
	__u8 waits[WAIT_SYSCALLS]; /* enum wait_kind by number of system call */
};

struct states_state {
	__u32 next, room;    /* numbers: never used yet, and how many there are */
	__u32 pid_level;     /* of our PID namespace */
	__u32 unplaced;      /* a thread got no storage since user space set this to 0 */
	__u64 pid_namespace; /* its place in the kernel; 0: it is the first one */
	/* What files of these kinds are handled by. */
	__u64 socket_functions, pipe_functions, timer_functions;
	/* The kernel's code that brings anonymous memory back; 0: nothing is on swap. */
	__u64 swap_begin, swap_end;
	/* And that which opens FIFOs; 0: not to be found. */
	__u64 fifo_begin, fifo_end;
	__u32 free_head, free_tail;
	__u32 lost;       /* threads that there was no room for */
	__u32 missed;     /* switches that no program was called for */
	__u32 has_walked; /* the iterator has seen all threads once */
	__u32 follows;    /* switches are seen, so that no end is missed */
	__u32 free_numbers[STATES_FREE];
	/* The record of who was met last in such a place: its number, and above it the place. */
	__u64 known[STATES_KNOWN];
};

/* What look_around() is given. */
struct states_examples {
	__u32 socket, pipe, timer; /* files of ours; UINT32_MAX: there are none of that kind */
};

enum states_flag {
	STATES_KERNEL = 1,
	STATES_ENDED = 2,
	STATES_WAS_THERE = 4, /* before it was watched */
};

/*
 * Where in a record the time of a state is: those of most switches come first, so that they share a
 * line of the cache.
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
_Static_assert((int)STATES_PLACE_COUNT == (int)STATE_COUNT, "each has one");

/*
 * Whoever gets a CPU is written a word in each of the first two lines, and who wakes up one in the
 * first; nothing of them is read then. With many threads that take turns, hardly any line is in the
 * cache of the CPU, and waiting for one would be most of the cost. The time of a wait is added when
 * the thread leaves its CPU again; by then both lines have come.
 */
struct states_thread {
	__u64 entered; /* its CPU, since when it runs; 0: not, or not since `since` */
	__u64 woken;   /* since when it could run; counts if it is after `since` */
	__u64 since;
	__u64 run_time;      /* the kernel's count, as of `since` */
	__u64 css_set, cred; /* their places in the kernel, as of when they were looked into */
	__u64 lock;          /* of the kernel, that it waits for; 0: none */
	/* Odd while it is written. `entered` and `woken` are written by others, in one word. */
	__u32 turn;
	__u16 state; /* enum state, as of `since`; STATE_EXEC: it is on a CPU, `entered` or not */
	__u16 unused;

	__u32 cpu;
	__s32 syscall; /* in which it waits; -1: none */
	__u64 switches;
	__u64 ns[STATE_COUNT]; /* by enum states_place */

	__u32 flags; /* enum states_flag; 0 and no tid: not used */
	__u32 tid, tgid, uid;
	__u64 begun, ended; /* CLOCK_MONOTONIC; ended 0: it lives */
	__u64 utime, stime; /* the kernel's counts, as of when they were booked last */
	__u64 cgroup;
	char name[16], process[16];
	/* Set by user space: since then it has been on a CPU, where it is not: it left and nobody
	 * told. */
	__u64 hidden_since;
	__u32 exit_code; /* of one that has ended, as wait(2) tells it */
	__u32 unused_too;
	__u64 fill[9];
};
_Static_assert(sizeof(struct states_thread) % 128 == 0, "CPUs fetch lines by pairs");

#endif
