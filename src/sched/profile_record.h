/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The records, configuration and state of a profile's programs, shared with user space.
 *
 * A record belongs to one thread in one program: exec ends it and begins another. Stacks have
 * numbers as well. Programs add up times and counts by {record, class, user stack, kernel stack,
 * ...}. Stacks are in a pool that grows by chunks, as records do, and is mapped by user space.
 */
#ifndef SCHED_PROFILE_RECORD_H
#define SCHED_PROFILE_RECORD_H

#include "histogram/bucket.h"
#include "process/mapping_record.h"
#include "profile/class.h"
#include "sched/task_record.h"
#include "sched/wait_rules.h"
#include "unwind/pool.h"

/* --- configuration, set before the programs are loaded --- */

#define PROFILE_USER_FRAMES_MAX   1024
#define PROFILE_KERNEL_FRAMES_MAX 127
#define PROFILE_COMM_MAX          16
#define PROFILE_GLOB_MAX          32

/* How callers of user stacks are found. */
enum profile_unwinding {
	UNWIND_BY_POINTERS,
	UNWIND_BY_BOTH, /* tables, and frame pointers where there are none */
	UNWIND_BY_TABLES,
};

struct profile_config {
	__u32 user_depth, kernel_depth; /* frames that are taken; 0: no such stacks */
	__u32 classes;                  /* a bit for each enum profile_class whose time is wanted */
	__u32 states[RECORD_TIMES];     /* of each, a bit for each enum state that is wanted */
	__u32 keep_below;               /* of 2^32 intervals those drawn below; 0: all */
	__u64 keep_scale;       /* with keep_below: 1000 times what one that is kept counts for */
	__u64 min_ns, max_ns;   /* intervals off the CPU outside are filtered */
	__u64 period_ns;        /* time-weighted sampling; 0: every interval */
	__u64 on_cpu_period_ns; /* what one sample on a CPU stands for */
	__u32 own_tgid;         /* ctprof itself, which is not tracked; 0: it is tracked, too */
	__u32 user_sets;        /* of remembered stacks of user space, a power of 2 */
	__u32 recheck;          /* one in so many recognised stacks is walked as well */
	__u64 cgroup;           /* only threads in it and below; 0: all */
	__u8 only_targets;      /* threads in `targets` and their children, and no others */
	__u8 has_children;      /* these include children that are there at the start */
	__u8 no_children;       /* and not even those that come later: only threads */
	__u8 only_user, only_kernel; /* threads of that kind */
	__u8 has_comm, has_cpus;     /* select threads by name, or by CPU */
	__u8 by_cpu;                 /* keep one count per CPU */
	__u8 wants_wakers;           /* their stacks */
	__u8 wants_waker_records;    /* wakers are told by their records, not by thread numbers */
	__u8 wants_runners;          /* record the threads that ran while one waited */
	__u8 wants_histograms;
	__u8 wants_latencies;
	__u8 wants_off_cpu;    /* else time is accounted, and nothing is kept of it */
	__u8 is_late;          /* stacks of what is sampled are taken when it is over: sched_exit */
	__u8 only_times;       /* of threads: no stacks, and all intervals are kept */
	__u8 unwind;           /* enum profile_unwinding */
	__u8 records_mappings; /* walks can record what a process has mapped */
	__u32 longest;         /* how many of the longest blocks are kept */
	char comm[PROFILE_GLOB_MAX]; /* a glob */
};

/* --- targets --- */

/* The values of the maps of targets. */
enum profile_target { TARGET_NOW = 1, TARGET_FROM_EXEC = 2 };

/* Some of what is counted of a thread (struct count_key, struct count_value), in its record: the
 * first keys, which most of its intervals have. What has other keys, or CPUs or wakers in it, is in
 * the hash. */
#define RECORD_COUNTS 4

struct record_count {
	__u32 user_stack, kernel_stack;
	__u32 counted;          /* the class, and below it the count; 0: the place is free */
	__u32 runnable_counted; /* the state, and below it that count */
	__u64 ns, runnable_ns;
};

/* The longest interval of a sum in a record is a slot of so many bits (histogram/bucket.h), which
 * is exact to 0.1 % and fits 16 bits. */
#define RECORD_LONGEST_BITS 10
_Static_assert(BUCKET_SLOTS(RECORD_LONGEST_BITS) < 1 << 16, "a slot fits");

#define RECORD_COUNT_BITS 27
#define RECORD_COUNT_MASK ((1u << RECORD_COUNT_BITS) - 1)
_Static_assert((int)CLASS_COUNT <= 1 << (32 - RECORD_COUNT_BITS) &&
		       (int)STATE_COUNT <= 1 << (32 - RECORD_COUNT_BITS),
	       "the class and the state are above the counts");

/* The room for counts by class. A mask bounds the index for the verifier, which wants it within the
 * record. */
enum {
	PROFILE_TIMES = 12,
	PROFILE_TIMES_MASK = 15,
};

/*
 * The thread that ended a wait: with wants_waker_records its record, else its number in our PID
 * namespace. 0: not known.
 */
#define WAKER_INTERRUPT 0xffffffffu
#define WAKER_NOT_YET   0xfffffffeu /* the wait had not ended; user space only */

/* Times and counts are by enum profile_class, and so is `task.state`. With many threads that take
 * turns, hardly any line of a record is in the cache of the CPU, so what a switch uses is in few.
 */
struct profile_record {
	struct task_record task;
	/* The interval in progress. */
	__u16 is_kept; /* it was drawn, and has stacks */
	__u16 waits;   /* enum state: what it waits for (sched/wait_rules.bpf.h) */
	__u32 user_stack, kernel_stack;
	__u32 waker;
	__u64 nvcsw; /* the kernel's count of voluntary switches, when it last left the CPU */
	/* Registers with which it left user space, as seen from outside in the interval that began
	 * at `looked`. */
	__u64 left_ip, left_sp, left_bp, left_bx, looked;

	struct record_count first[RECORD_COUNTS];

	__u64 blocked_debt, runnable_debt; /* towards the next period */
	__u32 waker_user_stack, waker_kernel_stack;
	__u32 is_listed; /* in `lacking`, or taken from there */
	__u32 queued;    /* one more than the CPU that it waits for since it was woken; 0: as it
			    left */
	__u64 voluntary, involuntary;
	__u64 counts[PROFILE_TIMES];
	/* Of each in `first`. */
	__u16 longest[RECORD_COUNTS];
	__u32 wakers[RECORD_COUNTS]; /* of the longest */
	/* The place that counts its latencies, as of this generation of places; generation 0: not
	 * looked up. */
	__u32 latency_place, latency_generation;
	__u64 fill[2];
};
_Static_assert(sizeof(struct profile_record) % 128 == 0, "CPUs fetch lines in pairs");
_Static_assert((int)CLASS_COUNT <= (int)PROFILE_TIMES && (int)PROFILE_TIMES <= (int)RECORD_TIMES,
	       "a record has room for the time of each class");

/* --- stacks --- */

/*
 * A stack is the number of the word where it begins in a pool: a header, then the addresses,
 * innermost first. A chunk is a value of its own, with room behind it for one that begins at its
 * end.
 *
 * There are two pools. Programs put stacks into the one of the current epoch. When it has grown,
 * user space begins the next epoch, and once nothing is left in the other pool that is not read,
 * that is emptied (sched/reading_epochs.c).
 */
#define STACK_CHUNK_BITS 15
#define STACK_CHUNK      (1u << STACK_CHUNK_BITS) /* words */
#define STACK_POOLS      2
#define STACK_POOL_BITS  30
#define STACK_CHUNKS_MAX (STACK_POOLS << (STACK_POOL_BITS - STACK_CHUNK_BITS))
#define STACK_WORDS_MAX  2048 /* of one stack, rounded up */
#define STACK_NONE       0u
#define STACK_LOST       1u /* there was one, and no room */

/* How a stack ends at its outermost frame. */
enum stack_end {
	STACK_WHOLE,      /* as far as one knows */
	STACK_TRUNCATED,  /* there were more frames than are wanted */
	STACK_INCOMPLETE, /* callers are missing, and may be wrong */
	STACK_MOVED,      /* another stack stands for it, whose number is where its count was */
};

/* A user stack whose walk met code whose table is not made yet (sched/deferred_stacks.h). */
#define DEFERRED_PAGE       4096
#define DEFERRED_PAGES      4
#define DEFERRED_MAX        256 /* that wait to be walked further */
#define DEFERRED_RING_BYTES (1 << 20)

struct deferred_stack {
	__u32 pid;
	__u32 number; /* of the stack that was found so far, */
	__u32 epoch;  /* in this epoch */
	__u32 count;  /* words from `sp` on */
	__u64 ip, sp, bp, bx;
	struct unwind_process process; /* the mappings that the walk used */
	__u64 words[DEFERRED_PAGES * DEFERRED_PAGE / 8];
};

static inline enum stack_end stack_end_of(__u32 stop)
{
	switch (stop) {
	case UNWIND_COMPLETE:
	case UNWIND_POINTER_END:
		return STACK_WHOLE;
	case UNWIND_TRUNCATED:
		return STACK_TRUNCATED;
	default:
		return STACK_INCOMPLETE;
	}
}

#define STACK_HEADER(count, end)   ((__u64)(count) | (__u64)(end) << 32)
#define STACK_HEADER_COUNT(header) ((__u32)(header))
#define STACK_HEADER_END(header)   ((enum stack_end)((header) >> 32 & 3))

struct stack_chunk {
	__u64 words[STACK_CHUNK + STACK_WORDS_MAX];
};

/* --- what --- */

struct count_key {
	__u32 thread;
	__u8 class, state; /* enum profile_class, enum state */
	__u16 event;
	__u32 user_stack, kernel_stack;
	__u32 cpu; /* 0 unless by_cpu, then one more than the CPU's number */
	__u32 waker, waker_user_stack, waker_kernel_stack; /* 0 unless wants_wakers */
};

struct count_value {
	__u64 ns;          /* blocked, or on the CPU */
	__u64 runnable_ns; /* then waiting for a CPU */
	__u64 count;       /* intervals, samples, hits */
	__u64 runnable_count;
	__u64 longest; /* of ns; of runnable_ns if the class is that; 0: unknown */
	__u32 waker;   /* of that */
	__u32 reading; /* it is the longest since this one began */
};

struct slot_key {
	__u32 thread;
	__u16 class, slot;
};
#define PROFILE_FRAC_BITS 3

struct slot_value {
	__u64 count, sum;
};

/*
 * Latencies by cgroup: histograms of the waits of all watched threads, including waits that filters
 * drop from the samples. User space assigns places to the busiest cgroups; place 0 counts all
 * others. Each place has LATENCY_SHARDS histograms, shared by CPUs to reduce contention, which user
 * space maps and adds up.
 */
enum latency_kind { LATENCY_RUN_QUEUE, LATENCY_BLOCK_IO, LATENCY_KINDS };
#define LATENCY_PLACES    16
#define LATENCY_SHARDS    8
#define LATENCY_FRAC_BITS 4
#define LATENCY_SLOTS     1022

struct latency_slots {
	__u64 counts[LATENCY_SLOTS];
	__u64 sum; /* ns */
	__u64 unused;
};
_Static_assert(BUCKET_SLOTS(LATENCY_FRAC_BITS) <= LATENCY_SLOTS, "each value has a slot");
_Static_assert(sizeof(struct latency_slots) == 8192, "whole pages");

#define LATENCY_HISTOGRAM(shard, place, kind) \
	(((shard)*LATENCY_PLACES + (place)) * LATENCY_KINDS + (kind))

struct runner_key {
	__u32 waiter, runner; /* records; runner 0: not known any more; or one of these */
};
#define RUNNER_IDLE         0xffffffffu /* the idle task: the CPU slept, and had to wake up */
#define RUNNER_SELF         0xfffffffeu /* ctprof itself, which has no record */

#define PROFILE_LONGEST_MAX 64

struct longest_block {
	__u64 begun, blocked_ns, runnable_ns;
	__u32 thread, user_stack, kernel_stack, waker;
	__u16 class, state;
};

struct longest_blocks {
	__u64 least; /* the shortest that is here once all places are taken */
	__u32 count;
	struct longest_block blocks[PROFILE_LONGEST_MAX];
};

/* --- counters of each CPU --- */

struct profile_counts {
	__u64 running;  /* the task that this CPU was switched to last, its number plus 1; 0: not
			   known */
	__u64 switches; /* seen, of all threads but the idle ones */
	__u64 events;   /* intervals, samples and hits of wanted threads */
	__u64 kept, filtered, filtered_ns;
	__u64 lost, lost_ns; /* no room for them */
	__u64 kernel_truncated;
	__u64 recognised, checked, wrong; /* kernel stacks known again by their slots */
	__u64 user_recognised, user_checked, user_wrong; /* and those of user space */
	__u64 stops[UNWIND_STOPS_ROOM]; /* of stacks of user space, those that are known again too
					 */
	__u64 missed;                   /* switches that were not reported, found by the next one */
};

/* Places that take stacks of the kernel. A walk begins in the program itself and in what calls it,
 * which are as many frames each time: how many is found once, from the first walk. */
enum stack_site { SITE_SWITCH, SITE_PREEMPTED, SITE_WAKING, SITE_LATE, STACK_SITES };
#define OWN_FRAMES_MAX 8

#define LACKING_MAX    4096

/* Read and written while programs run. */
struct profile_state {
	__u64 until; /* what is later is not counted; 0: all counts */
	struct stack_room {
		__u64 next, end; /* words: the next one, and where there is no more room */
		__u64 count;     /* of stacks */
	} stack_rooms[STACK_POOLS];
	__u32 stack_epoch;             /* its last bit is the pool that stacks are put into */
	__u32 own_frames[STACK_SITES]; /* to be passed over */
	__u64 first_walks[STACK_SITES][OWN_FRAMES_MAX];
	/* A ring of numbers of threads that wait with an incomplete user stack: programs add them
	 * and set `is_listed`, user space takes each out by setting it to 0. More than LACKING_MAX
	 * were added since: some are overwritten. */
	__u32 lacking_count;
	__u32 lacking[LACKING_MAX];
	__u32 asked_count;        /* processes that were put into `unwind_asked` */
	__s32 deferred_left;      /* stacks that may still be deferred; it may fall below 0 */
	__u32 latency_generation; /* incremented by user space when cgroups get or lose a place */
	__u32 reading;            /* incremented by user space after each */
};

#endif
