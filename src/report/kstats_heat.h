/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A distribution over time: a line for each interval, a column for each range of values, the more
 * values the darker. As text while it goes on, or as a picture when it is over.
 */
#ifndef REPORT_KSTATS_HEAT_H
#define REPORT_KSTATS_HEAT_H

#include <stdio.h>

#include "kstats/distribution.h"

/* Bits of the ranges per power of two in heat maps. */
#define KSTATS_HEAT_BITS 1

/* The values of an interval. `at_ns` is its end, since the epoch. */
struct kstats_heat_line {
	uint64_t at_ns, length_ns;
	struct kstats_distribution values;
};

struct kstats_heat {
	ARRAY(struct kstats_heat_line);
};
void kstats_heat_clear(struct kstats_heat *heat);

/* The line of one interval: time, count, p50, p99, and its values from `low` to `high` in ranges.
 */
struct kstats_heat_axis {
	uint64_t low, high; /* of values; beyond them, values count to the last range */
	unsigned bits;      /* of ranges: 0, powers of two, or KSTATS_HEAT_BITS, twice as many */
	bool utf8, colour;
	bool has_fractions; /* of seconds, where lines are closer than those */
};
void kstats_heat_heading(FILE *out, const struct kstats_table *table,
			 const struct kstats_heat_axis *axis);
void kstats_heat_line(FILE *out, const struct kstats_table *table,
		      const struct kstats_heat_axis *axis, const struct kstats_heat_line *line);

/* A picture of all of them. */
struct error *kstats_heat_svg(FILE *out, const struct kstats_table *table,
			      const struct kstats_heat *heat) MUST_CHECK;

#endif
