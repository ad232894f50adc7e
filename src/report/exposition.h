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
 * Numbers are integers in units of 10^-decimals, so text has them exactly. Histograms record
 * nanoseconds and are printed in seconds. Text has classic histograms of METRIC_BUCKETS buckets,
 * each four times as wide as the one before; bounds coincide with bounds of slots, so counts are
 * exact. Protobuf has the same buckets, and native ones in addition (native_histogram.h). Printing
 * fails only without memory.
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

#define METRIC_LABELS 5

/* A label without a value is left out: Prometheus takes an empty value as no label ("Data
 * model"). */
struct metric_label {
	const char *name; /* NULL: end of the labels */
	struct text value;
};

struct metric_series {
	struct metric_label labels[METRIC_LABELS];
	uint64_t number;
	/* For METRIC_HISTOGRAM, of METRIC_FRAC_BITS, else NULL; owned by the caller. */
	const struct histogram *histogram;
};

struct metric_family {
	const char *name;        /* counters: without "_total". Ends in "_UNIT" if `unit` is set */
	const char *help, *unit; /* `unit` may be NULL */
	enum metric_type type;
	unsigned decimals; /* 0 .. 9 */
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
/* Precision of histograms: with these bits, slots are narrower than native buckets. */
#define METRIC_FRAC_BITS 4

enum exposition { EXPOSITION_TEXT, EXPOSITION_OPENMETRICS, EXPOSITION_PROTOBUF, EXPOSITION_COUNT };

struct exposition_row {
	const char *media_type, *parameter, *value; /* as in Accept: text/plain; version=0.0.4 */
	const char *content_type;
	struct error *(*print)(FILE *out, const struct metric_families *families);
};
extern const struct exposition_row expositions[EXPOSITION_COUNT];

/* --- for the printers --- */

/* The upper bound of a classic bucket in ns, inclusive; and for each bucket the number of values up
 * to it. */
uint64_t metric_bucket_bound(unsigned bucket);
void metric_buckets(const struct histogram *histogram, uint64_t ret[METRIC_BUCKETS]);

struct error *exposition_print_protobuf(FILE *out,
					const struct metric_families *families) MUST_CHECK;

#endif
