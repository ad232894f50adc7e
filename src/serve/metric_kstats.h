/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values that metrics of kstats have recorded since the start, for /metrics, under the names
 * and labels of `ctprof kstats show --format openmetrics` (report/openmetrics_names.h).
 *
 * Values are added up by name, unit and place, so a metric that is reset, or removed and created
 * again, continues its series. A removed metric keeps its series for at least a minute, and then
 * until another metric needs the room. A metric for which there is no room has no series, rather
 * than a share of one: values of different metrics cannot be added.
 */
#ifndef SERVE_METRIC_KSTATS_H
#define SERVE_METRIC_KSTATS_H

#include "report/openmetrics_names.h"
#include "serve/store.h"

struct metric_families;

/* The most series of one metric: a histogram (report/exposition.h), losses by cause, and intervals
 * that began before the recording. */
#define METRIC_KSTATS_SERIES (METRIC_LADDER_SERIES(METRIC_BUCKETS_MAX) + KSTATS_LOSS_COUNT + 1)

struct metric_kstats {
	size_t most; /* limit of the number of metrics */
	uint64_t readings;
	struct kstats_tables all; /* each with one row, or without values none */
	struct {
		ARRAY(uint64_t); /* the last reading that had the metric, counted from 1 */
	} seen;
	size_t left_out; /* metrics of the last reading without series */
};

void metric_kstats_init(struct metric_kstats *kstats, size_t most);
void metric_kstats_deinit(struct metric_kstats *kstats);

/* Add the newest reading of the store. */
struct error *metric_kstats_take(struct metric_kstats *kstats,
				 const struct tick_store *store) MUST_CHECK;

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

/* Append families to `families`, which refer to memory of `ret`: print them before clearing it.
 * The caller clears `ret`, also after an error. */
struct error *metric_kstats_families(const struct metric_kstats *kstats,
				     struct metric_families *families,
				     struct metric_kstats_families *ret) MUST_CHECK;
void metric_kstats_families_clear(struct metric_kstats_families *families);
static inline void metric_kstats_families_clear_guard(struct metric_kstats_families *families)
{
	metric_kstats_families_clear(families);
}

#endif
