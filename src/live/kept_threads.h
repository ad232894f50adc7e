/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an engine remembers of each thread from one reading to the next, by number and start.
 *
 *	struct kept_thread *kept = kept_threads_at(&threads, tid, start, &is_new);
 *	kept->round = round;
 *	...
 *	for (size_t i = 0; i < threads.slots.count; i++)
 *		if (threads.slots.items[i].tid && threads.slots.items[i].round != round)
 *			kept_threads_drop(&threads, i);		it was not seen
 *
 * The place of one that is dropped is given to the next that comes: there are never more places
 *than there were threads at a time, and when all have come no memory is asked for any more.
 */
#ifndef LIVE_KEPT_THREADS_H
#define LIVE_KEPT_THREADS_H

#include "base/array.h"
#include "live/counter_times.h"
#include "state/reading.h"

struct kept_thread {
	uint32_t tid;   /* 0: a free place */
	uint32_t next;  /* of its bucket, or the next free place */
	uint64_t start; /* whatever tells threads of one number apart */
	uint64_t round; /* the reading that saw it last */
	struct state_thread told;
	struct counter_memory memory;
	uint64_t cgroup;  /* the number of told.cgroup */
	bool is_over;     /* it was said to have ended; the kernel still has it */
	bool is_only_led; /* kept for the name of its process, and not shown */
};

struct kept_threads {
	struct {
		ARRAY(struct kept_thread);
	} slots;
	uint32_t *buckets;
	size_t bucket_count; /* zero, or a power of two */
	size_t used;
	uint32_t free; /* first free place, or KEPT_NONE; of {0} not looked at */
	uint64_t last_id;
};

#define KEPT_NONE UINT32_MAX

/* The thread; all zero but for its numbers when it is new. Valid until the next call. NULL without
 * memory. */
struct kept_thread *kept_threads_at(struct kept_threads *threads, uint32_t tid, uint64_t start,
				    bool *ret_is_new);

/* The one of that number that was seen last, or NULL. */
struct kept_thread *kept_threads_find(struct kept_threads *threads, uint32_t tid);

void kept_threads_drop(struct kept_threads *threads, size_t place);

void kept_threads_deinit(struct kept_threads *threads);

#endif
