/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /metrics: what has been measured since the start, for Prometheus, in the format that it accepts.
 *
 *	metrics_init(&metrics, series_most);
 *	metrics_take(&metrics, store, &tick);      each second
 *	answer_metrics                             a handler; its context is a struct web
 *	metrics_deinit(&metrics);
 *
 * doc/serve.md names the metrics. Their number of series is bounded, so a host with many threads or
 * cgroups is no more to a server than another.
 */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include "serve/http.h"
#include "serve/metric_groups.h"
#include "serve/metric_kstats.h"
#include "serve/metric_latencies.h"

#define METRICS_SERIES          2000
#define METRICS_SERIES_LEAST    300
#define METRICS_SERIES_GREATEST 100000

/* Sums of all readings; TICK_UNMEASURED: none had it. */
struct metrics {
	struct metric_groups groups;
	struct metric_latencies latencies;
	struct metric_kstats kstats;
	size_t series_of_groups; /* their limit while there are no metrics of kstats */
	uint64_t readings, ns;
	uint64_t cpu_ns, pressure_ns[TICK_PRESSURES_COUNT];
	struct tick_host host; /* of the last reading */
	uint64_t lost, lost_ns, missed, truncated;
	uint64_t programs_ns, collector_ns;
};

void metrics_init(struct metrics *metrics, size_t series_most);
void metrics_deinit(struct metrics *metrics);

/* Add the reading, which the store has taken already. */
struct error *metrics_take(struct metrics *metrics, const struct tick_store *store,
			   const struct tick *tick) MUST_CHECK;

http_handler answer_metrics;

#endif
