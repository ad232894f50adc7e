/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A distribution over time: a line for each interval, a column for each range of values, the more
 * values the darker. As text while it goes on, or as a picture when it is over.
 */
#ifndef REPORT_KSTATS_HEAT_H
#define REPORT_KSTATS_HEAT_H

#include <stdio.h>

#include "kstats/distribution.h"

/* Bits of the ranges per power of two: in pictures, and at most in text. */
#define KSTATS_HEAT_BITS     1
#define KSTATS_HEAT_BITS_MAX 3

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
	unsigned bits;      /* of ranges, at most KSTATS_HEAT_BITS_MAX */
	unsigned columns;   /* for ranges, at most */
	bool utf8, colour;
	bool has_fractions; /* of seconds, where lines are closer than those */
};
/* Make the axis as wide as the values that were seen: those that it has, and those of
 * `distribution`, in ranges as fine as its columns and the values' own slots allow. True: it is
 * another one than before. An axis without values has `low` above `high`. */
bool kstats_heat_see(struct kstats_heat_axis *axis, const struct kstats_distribution *distribution);
void kstats_heat_heading(FILE *out, const struct kstats_table *table,
			 const struct kstats_heat_axis *axis);
void kstats_heat_line(FILE *out, const struct kstats_table *table,
		      const struct kstats_heat_axis *axis, const struct kstats_heat_line *line);

/* A picture of all of them, with the host and the time of the table that was read last. */
struct error *kstats_heat_svg(FILE *out, const struct kstats_table *table,
			      const struct kstats_heat *heat) MUST_CHECK;

#endif
