/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies by cgroup since the start, for /metrics. As groups of threads (metric_groups.h),
 * cgroups have histograms of their own up to a bound; those of all others are added up, and so are
 * those of cgroups without values for a minute, when others need the room.
 */
#ifndef SERVE_METRIC_LATENCIES_H
#define SERVE_METRIC_LATENCIES_H

#include "serve/tick.h"

struct metric_latency {
	char *cgroup;  /* NULL: one of LATENCIES_SPECIAL */
	uint64_t seen; /* the last reading with values, counted from 1 */
	struct histogram *kinds[LATENCY_KINDS];
};

enum { LATENCIES_OTHER, LATENCIES_ENDED, LATENCIES_SPECIAL };

struct metric_latencies {
	size_t most;
	uint64_t readings;
	struct {
		ARRAY(struct metric_latency);
	} all; /* those of LATENCIES_SPECIAL first, if there is one */
};

/* At most so many histograms of each kind, at least LATENCIES_SPECIAL. */
void metric_latencies_init(struct metric_latencies *latencies, size_t most);
void metric_latencies_deinit(struct metric_latencies *latencies);

struct error *metric_latencies_take(struct metric_latencies *latencies,
				    const struct tick *tick) MUST_CHECK;

#endif
