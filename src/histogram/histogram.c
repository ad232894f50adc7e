/* SPDX-License-Identifier: BSD-2-Clause */
#include "histogram/histogram.h"

#include <math.h>
#include <stdlib.h>

struct histogram *histogram_create(unsigned frac_bits)
{
	struct histogram *histogram =
		calloc(1, sizeof(*histogram) +
				  (size_t)BUCKET_SLOTS(frac_bits) * sizeof(histogram->slots[0]));

	if (histogram)
		histogram->frac_bits = frac_bits;
	return histogram;
}

void histogram_destroy(struct histogram *histogram)
{
	free(histogram);
}

/* The sum of many long times may not fit. */
static void add_sum(struct histogram *histogram, uint64_t value, uint64_t count)
{
	uint64_t more;

	if (__builtin_mul_overflow(value, count, &more) ||
	    __builtin_add_overflow(histogram->sum, more, &histogram->sum))
		histogram->sum = UINT64_MAX;
}

void histogram_record(struct histogram *histogram, uint64_t value, uint64_t count)
{
	histogram->slots[bucket_slot(value, histogram->frac_bits)] += count;
	histogram->count += count;
	add_sum(histogram, value, count);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	for (unsigned slot = 0; slot < BUCKET_SLOTS(from->frac_bits); slot++)
		if (from->slots[slot])
			into->slots[bucket_slot(bucket_low(slot, from->frac_bits),
						into->frac_bits)] += from->slots[slot];
	into->count += from->count;
	add_sum(into, from->sum, 1);
}

struct histogram_interval histogram_percentile(const struct histogram *histogram, double fraction)
{
	uint64_t rank = (uint64_t)(fraction * (double)histogram->count), passed = 0;

	/* The smallest value that at least that share is not above is the one of this rank, from 1.
	 */
	if ((double)rank < fraction * (double)histogram->count || !rank)
		rank++;
	for (unsigned slot = 0; slot < BUCKET_SLOTS(histogram->frac_bits); slot++) {
		passed += histogram->slots[slot];
		if (histogram->slots[slot] && passed >= rank)
			return (struct histogram_interval){
				bucket_low(slot, histogram->frac_bits),
				bucket_high(slot, histogram->frac_bits),
			};
	}
	return (struct histogram_interval){ 0, 0 };
}

uint64_t percentile_needs(double fraction)
{
	/* 1 - 0.99 is a little more than 0.01, and 1 - 0.9 a little less than 0.1. */
	return fraction < 1 ? (uint64_t)ceil((1 - 1e-9) / (1 - fraction)) : 1;
}

bool percentile_is_known(uint64_t count, double fraction)
{
	return count >= percentile_needs(fraction);
}
