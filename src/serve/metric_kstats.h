/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What metrics of kstats have recorded since the start, for /metrics, under the names and labels of
 * `ctprof kstats show --format openmetrics` (report/openmetrics_names.h).
 *
 * Values are added up by name, unit and place, so that a metric that is emptied, or removed and
 * created again, goes on where it was. A metric that is gone keeps its series until others need the
 * room, for a minute at least. A metric for which there is no room has no series: values of
 * different metrics have no sum.
 */
#ifndef SERVE_METRIC_KSTATS_H
#define SERVE_METRIC_KSTATS_H

#include "report/openmetrics_names.h"
#include "serve/store.h"

struct metric_families;

/* Series of one metric at most: a histogram (report/exposition.h), what was lost by cause, and what
 * was not measured. */
#define METRIC_KSTATS_SERIES (METRIC_LADDER_SERIES(METRIC_BUCKETS_MAX) + KSTATS_LOSS_COUNT + 1)

struct metric_kstats {
	size_t most; /* metrics */
	uint64_t readings;
	struct kstats_tables all; /* each with one row, or none without values */
	struct {
		ARRAY(uint64_t); /* the last reading that had the metric, counted from 1 */
	} seen;
	size_t left_out; /* of the last reading */
};

void metric_kstats_init(struct metric_kstats *kstats, size_t most);
void metric_kstats_deinit(struct metric_kstats *kstats);

/* Add the newest reading of the store. */
struct error *metric_kstats_take(struct metric_kstats *kstats,
				 const struct store *store) MUST_CHECK;

/* Families, and the memory that they refer to. All zero is empty. */
struct metric_kstats_families {
	struct openmetrics_metrics metrics;
	struct {
		ARRAY(struct openmetrics_labels);
	} labels;
	struct {
		ARRAY(struct histogram *);
	} histograms;
	struct {
		ARRAY(char *);
	} helps;
};

/* Append families to `families`, which must be printed before `ret` is cleared; also after an
 * error. */
struct error *metric_kstats_families(const struct metric_kstats *kstats,
				     struct metric_families *families,
				     struct metric_kstats_families *ret) MUST_CHECK;
void metric_kstats_families_clear(struct metric_kstats_families *families);
static inline void metric_kstats_families_clear_guard(struct metric_kstats_families *families)
{
	metric_kstats_families_clear(families);
}

#endif
