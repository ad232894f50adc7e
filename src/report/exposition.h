/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Families of metrics in the formats that Prometheus scrapes: text 0.0.4, OpenMetrics 1.0.0 and
 * delimited protobuf messages (io.prometheus.client.MetricFamily).
 *
 *	struct metric_family family = { .name = "x_seconds", .type = METRIC_COUNTER, ... };
 *	array_push(&family.series, ...);
 *	array_push(&families, family);
 *	err = expositions[format].print(out, &families);
 *
 * Numbers, and values of histograms, are integers in units of 10^-decimals, so text has them
 * exactly. Text has classic histograms, whose buckets are each four times as wide as the one
 * before; bounds coincide with bounds of slots, so counts are exact. Protobuf has the same buckets,
 * and native ones in addition (native_histogram.h). Printing fails only without memory.
 */
#ifndef REPORT_EXPOSITION_H
#define REPORT_EXPOSITION_H

#include <stdio.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "histogram/histogram.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

#define METRIC_LABELS 8

/* A label without a value is left out: Prometheus takes an empty value as no label ("Data
 * model"). */
struct metric_label {
	const char *name; /* NULL: end of the labels */
	struct text value;
};

struct metric_series {
	struct metric_label labels[METRIC_LABELS];
	uint64_t number;
	const struct histogram *histogram; /* of METRIC_HISTOGRAM, else NULL; the caller's */
};

/* Classic buckets: their upper bounds, inclusive, are 2^N - 1 for N = first_bits, first_bits + 2,
 * ... */
struct metric_ladder {
	unsigned first_bits, buckets; /* buckets: at most METRIC_BUCKETS_MAX */
};
#define METRIC_BUCKETS_MAX 17

struct metric_family {
	const char *name;        /* counters: without "_total". Ends in "_UNIT" if `unit` is set */
	const char *help, *unit; /* `unit` may be NULL */
	enum metric_type type;
	unsigned decimals; /* 0 .. 9 */
	/* Of histograms; NULL: METRIC_BUCKETS from 1 us to 17 s, of nanoseconds. */
	const struct metric_ladder *ladder;
	struct {
		ARRAY(struct metric_series);
	} series;
};

struct metric_families {
	ARRAY(struct metric_family);
};

void metric_families_deinit(struct metric_families *families);

static inline void metric_families_deinit_guard(struct metric_families *families)
{
	metric_families_deinit(families);
}

/* Series that Prometheus stores for one classic histogram: its buckets, +Inf, _sum and _count. */
#define METRIC_BUCKETS          13
#define METRIC_HISTOGRAM_SERIES (METRIC_BUCKETS + 3)
/* The same of a histogram with so many buckets. */
#define METRIC_LADDER_SERIES(buckets) ((buckets) + 3)

enum exposition { EXPOSITION_TEXT, EXPOSITION_OPENMETRICS, EXPOSITION_PROTOBUF, EXPOSITION_COUNT };

struct exposition_row {
	const char *media_type, *parameter, *value; /* as in Accept: text/plain; version=0.0.4 */
	const char *content_type;
	struct error *(*print)(FILE *out, const struct metric_families *families);
};
extern const struct exposition_row expositions[EXPOSITION_COUNT];

/* --- for the printers --- */

/* The ladder of a family of histograms. */
const struct metric_ladder *metric_ladder_of(const struct metric_family *family);
/* The upper bound of a classic bucket, inclusive; and for each bucket the number of values up to
 * it. */
uint64_t metric_bucket_bound(const struct metric_ladder *ladder, unsigned bucket);
void metric_buckets(const struct metric_ladder *ladder, const struct histogram *histogram,
		    uint64_t ret[METRIC_BUCKETS_MAX]);
/* 10^decimals. */
uint64_t metric_scale(unsigned decimals);

struct error *exposition_print_protobuf(FILE *out,
					const struct metric_families *families) MUST_CHECK;

#endif
