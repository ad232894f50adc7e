/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times that no thread can have: more of it than the thread lived, or more was added than passed
 * between two captures. Some kernels count so (doc/report.md says which, and why). Captures keep
 * what the kernel said; a report marks it, and never ranks it first.
 *
 *	if (!impossible_by_age(&impossible, snapshot, &waits) ||
 *	    !impossible_by_window(&impossible, earlier, later, &waits))
 *		return &error_no_memory;
 *	const struct metric_set *set = impossible_of(&impossible, thread);
 *
 * Both need the start time of a thread, when the capture began, and how long it took: where a file
 * does not say, nothing of it is called impossible.
 *
 * The kernel books a wait when it ends, so where waits in progress are not known a window may be
 * given more than its own time. That is no fault, and is kept apart in `began_before`.
 */
#ifndef COMPARE_IMPOSSIBLE_H
#define COMPARE_IMPOSSIBLE_H

#include "base/array.h"
#include "base/word_map.h"
#include "snapshot/model.h"

struct impossible {
	struct word_map numbers; /* by the address of a thread */
	ARRAY(struct metric_set);
	struct metric_set began_before; /* totals with waits that began before the window */
};

/* Find impossible values of a snapshot, by the lives of its threads. `with_waits` are the totals to
 * which the elapsed time of waits in progress is added (waits.h). False without memory; the same
 * below. */
bool impossible_by_age(struct impossible *impossible, const struct ctprof_snapshot *snapshot,
		       const struct metric_set *with_waits) MUST_CHECK;

/* Find impossible values of the later of two snapshots of one boot, by the time between them. */
bool impossible_by_window(struct impossible *impossible, const struct ctprof_snapshot *earlier,
			  const struct ctprof_snapshot *later,
			  const struct metric_set *with_waits) MUST_CHECK;

/* The metrics of a thread that cannot be; NULL: none. */
static inline const struct metric_set *impossible_of(const struct impossible *impossible,
						     const struct ctprof_thread *thread)
{
	uint32_t number = impossible->count ? word_map_find(&impossible->numbers,
							    (struct words){ { (uintptr_t)thread } })
					    : WORD_MAP_NEW;

	return number == WORD_MAP_NEW ? NULL : &impossible->items[number];
}

void impossible_deinit(struct impossible *impossible);

#endif
