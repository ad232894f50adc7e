/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Families of metrics in the formats that Prometheus scrapes.
 *
 *	struct metric_family family = { .name = "x_seconds", .type = METRIC_COUNTER, ... };
 *	array_push(&family.series, ...);
 *	array_push(&families, family);
 *	err = expositions[format].print(out, &families);
 *
 * Numbers are whole, in units of 10^-decimals, so that text has them exactly. Histograms are of
 * nanoseconds. In text they are classic: 13 buckets, each four times as wide as the one before,
 * whose bounds are ends of slots and so exact. Protobuf has these and native buckets beside
 * (native_histogram.h).
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

/* An empty value is the same as no label (Prometheus, "Data model"), and is left out. */
struct metric_label {
	const char *name; /* NULL: none, and no more */
	struct text value;
};

struct metric_series {
	struct metric_label labels[METRIC_LABELS];
	uint64_t number;
	const struct histogram *histogram; /* of METRIC_HISTOGRAM; METRIC_FRAC_BITS */
};

struct metric_family {
	const char
		*name; /* of counters without "_total"; ends in "_" and the unit, if there is one */
	const char *help, *unit; /* unit NULL: none */
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

/* A series of a histogram in text is so many series of Prometheus. */
#define METRIC_BUCKETS          13
#define METRIC_HISTOGRAM_SERIES (METRIC_BUCKETS + 3)
/* Histograms have so many bits: their slots are narrower than native buckets. */
#define METRIC_FRAC_BITS 4

enum exposition { EXPOSITION_TEXT, EXPOSITION_OPENMETRICS, EXPOSITION_PROTOBUF, EXPOSITION_COUNT };

struct exposition_row {
	const char *media_type, *parameter, *value; /* what Accept says: "text/plain", "version", */
	const char *content_type;
	struct error *(*print)(FILE *out, const struct metric_families *families);
};
extern const struct exposition_row expositions[EXPOSITION_COUNT];

/* --- for the printers --- */

/* The upper bound of a classic bucket in ns, and how many values are not above it. */
uint64_t metric_bucket_bound(unsigned bucket);
void metric_buckets(const struct histogram *histogram, uint64_t ret[METRIC_BUCKETS]);

struct error *exposition_print_protobuf(FILE *out,
					const struct metric_families *families) MUST_CHECK;

#endif
