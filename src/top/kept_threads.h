/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state that an engine keeps of each thread between readings, by number and start time.
 *
 *	kept_threads_begin(&threads);
 *	kept = kept_threads_at(&threads, tid, start, &is_new);	for each that is met
 *	...
 *	kept_threads_met(&threads, kept);
 *	err = kept_threads_put(&threads, &reading);
 *
 * The slot of a dropped thread is reused for a new one: there are never more slots than concurrent
 * threads, so a steady number of threads needs no new memory.
 */
#ifndef TOP_KEPT_THREADS_H
#define TOP_KEPT_THREADS_H

#include "base/array.h"
#include "base/error.h"
#include "state/reading.h"
#include "top/counter_times.h"

struct kept_thread {
	uint32_t tid;   /* 0: a free place */
	uint32_t next;  /* of its bucket, or the next free place */
	uint64_t start; /* whatever tells threads of one number apart */
	uint64_t round; /* the reading that met it last */
	struct state_thread reported;
	struct counter_memory memory;
	uint64_t cgroup; /* the number of reported.cgroup */
	/* Of engines that read files: the times that it had a CPU, and for how long; the reading
	 * that saw last that it had run; since when it waits for a CPU, or 0; and what its wait
	 * since it ran is for, STATE_COUNT while that is not known. */
	uint64_t slices, run_ns, ran_ns, queued_ns;
	enum state wait;
	bool is_over;     /* its end was reported; the kernel still has it */
	bool is_only_led; /* kept for the name of its process, and not shown */
};

struct kept_threads {
	struct {
		ARRAY(struct kept_thread);
	} slots;
	struct {
		ARRAY(uint32_t);
	} met; /* places, in the order of this round */
	uint32_t *buckets;
	size_t bucket_count; /* zero, or a power of two */
	size_t used;
	uint32_t free; /* first free place, or KEPT_NONE; nothing as long as there are no slots */
	uint64_t round, last_id;
};

#define KEPT_NONE UINT32_MAX

/* Before threads are met. */
void kept_threads_begin(struct kept_threads *threads);

/* The thread; all zero but for its numbers when it is new. Valid until the next call. NULL without
 * memory. */
struct kept_thread *kept_threads_at(struct kept_threads *threads, uint32_t tid, uint64_t start,
				    bool *ret_is_new);

/* The thread still exists: include it unless `is_over` or `is_only_led`. False without memory. */
bool kept_threads_met(struct kept_threads *threads, struct kept_thread *kept);

/* The one of this number that was met in this reading; NULL: there is none. */
struct kept_thread *kept_threads_find(struct kept_threads *threads, uint32_t tid);

/* Forget it. */
void kept_threads_drop(struct kept_threads *threads, struct kept_thread *kept);

/*
 * Append all that were met, with names of their processes, and then, once, those that were not:
 * they have ended, and are as they were last.
 */
struct error *kept_threads_put(struct kept_threads *threads,
			       struct state_reading *reading) MUST_CHECK;

void kept_threads_deinit(struct kept_threads *threads);

#endif
