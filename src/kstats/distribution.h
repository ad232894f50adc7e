/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics of the values in the slots of a row, or of all rows, with bounds: a slot tells only
 * the range of its values.
 *
 *	_cleanup_(kstats_distribution_clear) struct kstats_distribution all = { 0 };
 *	err = kstats_distribution_of(table, NULL, &all);
 *	p99 = kstats_percentile(&all, 0.99);       p99.low <= the true one <= p99.high
 */
#ifndef KSTATS_DISTRIBUTION_H
#define KSTATS_DISTRIBUTION_H

#include "kstats/table.h"

/* Slots added up, with the count below each. */
struct kstats_distribution {
	unsigned frac_bits;
	uint64_t count;
	struct kstats_slot *slots; /* BUCKET_SLOTS(frac_bits) */
};

/* The distribution of `row`, or of all rows together if it is NULL. To be cleared. */
struct error *kstats_distribution_of(const struct kstats_table *table, const struct kstats_row *row,
				     struct kstats_distribution *ret) MUST_CHECK;
void kstats_distribution_clear(struct kstats_distribution *distribution);
static inline void kstats_distribution_clear_guard(struct kstats_distribution *distribution)
{
	kstats_distribution_clear(distribution);
}

struct kstats_percentile {
	unsigned slot;
	uint64_t low, high; /* the true value is one of these or lies between them */
	double mean;        /* of the slot's values */
};

/* The smallest value that at least `fraction` (0 to 1) of all values are not above. All 0 of an
 * empty one. Whether there are enough values for it, percentile_is_known() tells. */
struct kstats_percentile kstats_percentile(const struct kstats_distribution *distribution,
					   double fraction);
/* The value of this rank, from 1 (the smallest) to `count`. */
struct kstats_percentile kstats_ranked(const struct kstats_distribution *distribution,
				       uint64_t rank);
/* The values of one slot added up, unscaled. Count and sum may have been read at different moments
 * or be those of a file, and bits that were dropped make the sum too small: values are in their
 * slot all the same. */
unsigned __int128 kstats_slot_sum(const struct kstats_slot *values, unsigned slot,
				  unsigned frac_bits);
/* All values added up, by the slots' sums: exact where none of them lost bits (histogram/bucket.h).
 */
unsigned __int128 kstats_sum(const struct kstats_distribution *distribution);
/* The mean of all values; 0 if there are none. */
double kstats_mean(const struct kstats_distribution *distribution);
/* The mean of the values in one slot, never outside of it; the lower bound if it is empty. */
double kstats_slot_mean(const struct kstats_distribution *distribution, unsigned slot);

#endif
