/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The percentiles that reports of histograms show, and how text shows them: those that the number
 * of values supports (percentile_is_known() in histogram/histogram.h), one in each line, then what
 * the next takes.
 *
 *	  p50      1.024ms ..    1.151ms  bucket mean 1.100ms
 *	  max      2.048ms ..    2.303ms  bucket mean 2.200ms
 *	  p90    needs 10 values
 */
#ifndef REPORT_PERCENTILES_H
#define REPORT_PERCENTILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "histogram/histogram.h"

struct percentile_row {
	const char *name;
	double fraction;
};

/* From p50 to the largest value, which is always shown. */
#define PERCENTILES 7
extern const struct percentile_row percentile_rows[PERCENTILES];

/* The true value lies between `low` and `high`, both possible. */
struct percentile_value {
	uint64_t low, high;
	bool has_mean; /* of the values in this bucket */
	uint64_t mean;
};

/* A histogram of any kind, for `of`. */
struct percentile_source {
	const void *of;
	uint64_t count; /* of values, at least 1 */
	struct percentile_value (*at)(const void *of, double fraction);
	/* A value as people read it. Room for UNITS_TEXT_MAX. */
	char *(*format)(char *buffer, const void *of, uint64_t value);
};

/* Columns that bounds up to this one take. */
int percentile_width(const struct percentile_source *source, uint64_t bound);

void percentiles_print(FILE *out, const struct percentile_source *source);

#endif
