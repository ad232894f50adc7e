/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits in progress. The kernel books a wait when it ends; what has passed of one that goes on is a
 * metric of its own (IN_PROGRESS of metrics.def), which only some captures have. Here is decided
 * which totals it is added to: those where every snapshot of a report has it in some thread, since
 * a total with waits in progress does not compare with one without.
 *
 *	run queue   |----- waits 990 ms -----|
 *	captures  --A-----------------------B+--
 *
 * A has nothing accounted, nor has B, though the thread waited all the time. With what has passed,
 * A has 10 ms and B 980 ms. A later capture has 990 ms accounted and none in progress, so the total
 * only grows still.
 */
#ifndef COMPARE_WAITS_H
#define COMPARE_WAITS_H

#include "snapshot/model.h"

struct waits {
	struct metric_set added;    /* totals that get what has passed of their waits */
	struct metric_set left_out; /* totals that do not, though some snapshot has it */
	/* For a total that is left out, the first snapshot without it; NULL: the view excludes it.
	 */
	const struct ctprof_snapshot *lacking[METRIC_COUNT];
};

/* With `completed_only` nothing is added. The snapshots must outlive the result. */
void waits_find(struct waits *ret, const struct ctprof_snapshot *const *snapshots, size_t count,
		bool completed_only);

/* The totals that are left out because of this snapshot; NULL: because they are not wanted. */
struct metric_set waits_left_out(const struct waits *waits, const struct ctprof_snapshot *snapshot);

#endif
