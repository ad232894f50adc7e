/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The record that the scheduler tracker keeps of each task, and what its programs share with user
 * space. `top --engine exact` uses records as they are here; a profile adds parts of its own behind
 * (profile_record.h).
 *
 * Records are in chunks of memory that user space maps, so reading them takes no system call. A
 * record has a number and belongs to one task, from when the task is first seen until it has ended
 * and user space has read that. Then the number goes to `free_numbers`, and another task gets it.
 */
#ifndef SCHED_TASK_RECORD_H
#define SCHED_TASK_RECORD_H

#ifdef __bpf__
#include "bpf/kernel.h"
#else
#include <linux/types.h>
#endif
#include "state/state.h"

#define RECORD_CHUNK_BITS  9
#define RECORD_CHUNK       (1u << RECORD_CHUNK_BITS)
#define RECORD_CHUNKS_MAX  8192

#define RECORD_NUMBER_BITS 22         /* number 0 is none */
#define RECORDS_FREE       (1u << 16) /* numbers that wait to be used again */
#define RECORDS_CACHED     (1u << 16) /* tasks whose numbers are found without their storage */

/* Set before the programs are loaded. */
struct track_config {
	__u8 is_weakly_ordered;  /* stores may become visible in another order */
	__u8 has_previous_state; /* sched_switch has it as an argument (Linux 5.18) */
};

/* Written and read while the programs run. */
struct track_state {
	__u32 next, room;    /* numbers that were never used begin at `next`, and end at `room` */
	__u32 pid_level;     /* of our PID namespace; 0: the first one */
	__u32 unplaced;      /* a task got no storage since user space set this to 0 */
	__u64 pid_namespace; /* its address in the kernel */
	/* A ring: user space adds at the tail, programs take from the head. */
	__u32 free_head, free_tail;
	__u32 lost;        /* tasks that there was no record for, at some time */
	__u32 has_scanned; /* the iterator has seen all tasks once */
	__u32 follows;     /* sched_switch is attached, so that no end is missed */
	__u32 unused;
	__u32 free_numbers[RECORDS_FREE];
	/* Indexed by a hash of the task's address: the number of its record, and above that the
	 * address. */
	__u64 cached[RECORDS_CACHED];
};

enum record_flag {
	RECORD_KERNEL = 1,
	RECORD_ENDED = 2, /* the task is dead, or another program since */
	RECORD_FOUND = 4, /* by the iterator: it began before it was tracked */
	/* In profiles only: */
	RECORD_WANTED = 8,  /* it is one of the targets */
	RECORD_UNSEEN = 16, /* it left its CPU without a switch that was seen: times are unknown */
};

/* The room of a record for times by state or class. A mask bounds the index for the verifier, which
 * wants it within the record. A 26th state makes each record 128 bytes longer. */
enum {
	RECORD_TIMES = 25,
	RECORD_TIMES_MASK = 31,
};
_Static_assert((int)STATE_COUNT <= (int)RECORD_TIMES,
	       "a record has room for the time of each state");

/*
 * Exact states write one word in each of the first two lines when a task gets a CPU, and one in the
 * first when it wakes up, and read nothing then: with many tasks that take turns, hardly any line
 * is in the cache of the CPU, and waiting for one would be most of the cost. The time of a wait is
 * added when the task leaves its CPU again; by then both lines have come.
 */
struct task_record {
	__u64 entered;       /* its CPU, since when it runs; 0: not, or not since `since` */
	__u64 woken;         /* since when it could run; valid if it is after `since` */
	__u64 since;         /* when the present state began */
	__u64 run_time;      /* the kernel's count, as of `since` */
	__u64 css_set, cred; /* addresses in the kernel, of which cgroup and uid were read */
	__u64 lock;          /* the kernel's lock that it waits for; 0: none */
	/* Odd while the record is written. Other CPUs write `entered` and `woken` without it. */
	__u32 sequence;
	/* since `since`: enum state, or in profiles enum profile_class. With STATE_EXEC the thread
	 * is on a CPU, whether `entered` is set or not */
	__u16 state;
	__u16 flags; /* enum record_flag */

	__u32 cpu;
	__s32 syscall; /* in which it waits; -1: none */
	__u64 switches;
	__u64 ns[RECORD_TIMES]; /* by STATES_PLACE(), or in profiles by enum profile_class */

	__u32 tid, tgid, uid;
	__u32 unused;
	__u64 begun, ended; /* CLOCK_MONOTONIC; ended 0: it lives */
	__u64 utime, stime; /* the kernel's counts, as of when they were last used */
	__u64 cgroup;
	char name[16], process[16];
	/* Set by user space: it seemed to run since then, and was not on its CPU. */
	__u64 hidden_since;
	__u32 exit_code; /* of one that has ended, as wait(2) returns it */
	__u32 unused_too;
};
_Static_assert(sizeof(struct task_record) % 128 == 0, "CPUs fetch lines in pairs");

#endif
