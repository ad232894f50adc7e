/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/past_rate.h"

#include <math.h>

static double life_seconds(const struct past *past, const struct ctprof_thread *thread)
{
	const struct reading start = thread->start_time_clock_ticks;

	if (!start.measured)
		return 0;
	return fmax(start.value < past->now ? (double)(past->now - start.value) / TICKS_PER_S : 0,
		    past->least);
}

static double watched_seconds(const struct past *past, const struct ctprof_thread *thread)
{
	double watched =
		metric_set_has(&thread->record.measured, METRIC_state_watched_ns)
			? (double)thread->record.values.state_watched_ns.v / (double)NS_PER_S
			: 0;

	return watched < past->least / 2 ? 0 : fmax(watched, past->least);
}

double past_seconds(const struct past *past, const struct ctprof_thread *thread, enum metric_id id)
{
	return metrics[id].section == SECTION_THREAD_STATES ? watched_seconds(past, thread)
							    : life_seconds(past, thread);
}

double past_total(const struct ctprof_thread *thread, const struct metric *metric,
		  const struct metric_set *with_waits)
{
	double total = (double)metric_load_u64(&thread->record.values, metric);

	return metric_set_has(with_waits, metric_id(metric))
		       ? total + (double)metric_unaccounted(&thread->record, metric)
		       : total;
}
