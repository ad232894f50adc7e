/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast totals grew before a capture: what a thread has, over the time it has it from, which is
 * its life. So much per second is what is usual of it, as far as one capture can tell.
 *
 *	const struct past past = { report_now_ticks(snapshot), window_s };
 *	double seconds = past_seconds(&past, thread, METRIC_run_time_ns);
 *	double per_second = past_total(thread, &metrics[METRIC_run_time_ns], with_waits) / seconds;
 */
#ifndef COMPARE_PAST_RATE_H
#define COMPARE_PAST_RATE_H

#include "metric/metric.h"
#include "snapshot/model.h"

struct past {
	uint64_t now; /* when the capture was made, in ticks since boot */
	double least; /* seconds; younger threads count as that old: they are not known to have
			 done more before */
};

/* The divisor of a thread's rate: its age in seconds, or for state times how long it was tracked. 0
 * if that is not known or, for state times, less than half of `least`. */
double past_seconds(const struct past *past, const struct ctprof_thread *thread, enum metric_id id);

/* The total, and for metrics in `with_waits` what has passed of waits in progress. */
double past_total(const struct ctprof_thread *thread, const struct metric *metric,
		  const struct metric_set *with_waits);

#endif
