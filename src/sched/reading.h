/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading what the programs added up, with a file for each part.
 *
 * The sums of the programs only grow, and intervals in progress are in the records of the threads.
 * The state as of a moment is those sums plus the elapsed part of the intervals in progress, and a
 * reading is the difference of two such states. So every nanosecond is in exactly one reading.
 */
#ifndef SCHED_READING_H
#define SCHED_READING_H

#include "sched/profile_internal.h"
#include "sched/whole_stacks.h"

/* The state of a reading in progress. */
struct profile_reading {
	struct profile_session *session;
	struct profile *profile;
	uint64_t now;
	uint32_t record_count; /* numbers are below */
	uint32_t *threads;     /* in the profile, by record; UINT32_MAX: not in it */
	struct word_map stacks, frames, leaders, cgroups, wakers;
	struct word_map own_frames; /* kernel stack number to its frames of tracing programs */
	struct word_map tids;       /* records by thread number, if wakers are told by that */
	struct whole_stacks wholes; /* of the kernel, that waits have */
	/* Entries with numbers that are freed, to delete after the walk over maps. */
	struct {
		ARRAY(struct slot_key);
	} left_slots;
	struct {
		ARRAY(struct runner_key);
	} left_runners;
	uint64_t in_progress;           /* waits in progress that are in the samples */
	uint64_t lost, lost_ns;         /* of intervals in progress */
	bool is_full;                   /* the limit of memory leaves no room for more samples */
	uint64_t left_out, left_out_ns; /* of these: what ended, and all of their time */
	uint64_t torn;                  /* records that were written at each attempt to read them */
	uint64_t *latest;               /* by CPU: when a thread got it or left it last */
};

/* The interval that a thread is in, as of `now`. */
struct reading_progress {
	uint64_t blocked_ns, runnable_ns, on_ns;
};
struct reading_progress reading_progress(const struct profile_record *t, uint64_t now);

/* Read the threads and their times (reading_threads.c). This must be called first. */
struct error *reading_threads(struct profile_reading *r) MUST_CHECK;

/* Read what was counted, and the elapsed part of intervals in progress (reading_counts.c). */
struct error *reading_samples(struct profile_reading *r) MUST_CHECK;

/* The number in the profile of the waker that the programs told (struct profile_record), counted
 * from 1; 0: not known (reading_wakers.c). */
struct error *reading_waker(struct profile_reading *r, uint32_t number, uint32_t *ret) MUST_CHECK;

/* Read the longest waits, the histograms and the preemptors (reading_extras.c). */
struct error *reading_extras(struct profile_reading *r) MUST_CHECK;

/* Say what was profiled, if processes were named, once threads are known (reading_target.c). */
struct error *reading_target(struct profile_reading *r) MUST_CHECK;

/* Read which cgroups ran out of their quota, and how long their threads waited for a CPU. Call it
 * after reading_samples() (reading_quotas.c). */
struct error *reading_quotas(struct profile_reading *r) MUST_CHECK;

/* Read the latencies by cgroup, and give free places to other cgroups. Call it after
 * reading_threads() (reading_latencies.c). */
struct error *reading_latencies(struct profile_reading *r) MUST_CHECK;

/* A wait in this kernel stack, before any node is asked for (reading_stacks.c). */
struct error *reading_stack_of_wait(struct profile_reading *r, uint32_t stack,
				    uint64_t ns) MUST_CHECK;

/*
 * The record of a thread that has ended, and all that is counted by its number, is freed after the
 * reading that has its end, so that another thread can get the number (reading_ended.c). If other
 * threads may refer to it, as their waker or preemptor, it stays for one more interval.
 */
void reading_note_end(struct profile_reading *r, uint32_t number, bool has_ended);
/* Is the number freed after this reading? */
bool reading_is_left(const struct profile_reading *r, uint32_t number);
/* After everything was read. */
void reading_free_left(struct profile_reading *r);

/*
 * With --interval, stacks and their counts are freed, too, an epoch at a time (reading_epochs.c).
 * When they have grown, the next epoch begins at the end of a reading; the reading after that is
 * the last with counts of the epoch before.
 */
struct error *reading_carry(struct profile_reading *r, const struct counted_table *now) MUST_CHECK;
/* Is it counted under a stack of the epoch before, which this reading frees? */
bool reading_is_before(const struct profile_reading *r, const struct count_key *key);
struct error *reading_end_epoch(struct profile_reading *r) MUST_CHECK;

/* Is it, as wants_wait() in counting.bpf.h says? */
bool reading_is_state_wanted(const struct profile_reading *r, unsigned class, unsigned state);

/* Add to what is counted for a key; returns its entry, NULL without memory. */
struct counted_entry *reading_add(struct counted_table *table, const struct count_key *key,
				  const struct count_value *more);
/* NULL: it has none. */
struct counted_entry *reading_find_entry(const struct counted_table *table,
					 const struct count_key *key);

/* The node of the stacks of a key (reading_stacks.c). */
struct error *reading_node(struct profile_reading *r, const struct count_key *key,
			   uint32_t *ret) MUST_CHECK;

/* A name of the kernel, which ends with a NUL or with the room for it; NULL: no memory. */
const struct name *reading_name(struct profile *profile, const char *bytes, size_t room);

/* Calls `take` for each element of a hash. */
struct error *reading_each(int map, size_t key_bytes, size_t value_bytes,
			   struct error *(*take)(void *context, const void *key, const void *value),
			   void *context) MUST_CHECK;

static inline uint64_t reading_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

#endif
