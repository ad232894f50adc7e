/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/distribution.h"

#include <stdlib.h>

static void add_row(struct kstats_distribution *distribution, const struct kstats_row *row)
{
	for (unsigned slot = 0; slot < BUCKET_SLOTS(distribution->frac_bits); slot++) {
		distribution->slots[slot].count += row->slots[slot].count;
		distribution->slots[slot].sum += row->slots[slot].sum;
		distribution->count += row->slots[slot].count;
	}
}

struct error *kstats_distribution_of(const struct kstats_table *table, const struct kstats_row *row,
				     struct kstats_distribution *ret)
{
	struct kstats_distribution made = { .frac_bits = table->frac_bits };

	made.slots = calloc(BUCKET_SLOTS(table->frac_bits), sizeof(*made.slots));
	if (!made.slots)
		return &error_no_memory;
	if (row)
		add_row(&made, row);
	else
		for (size_t i = 0; i < table->rows.count; i++)
			add_row(&made, &table->rows.items[i]);
	*ret = made;
	return NULL;
}

void kstats_distribution_clear(struct kstats_distribution *distribution)
{
	free(distribution->slots);
	*distribution = (struct kstats_distribution){ 0 };
}

double kstats_slot_mean(const struct kstats_distribution *distribution, unsigned slot)
{
	const struct kstats_slot *values = &distribution->slots[slot];
	double low = (double)bucket_low(slot, distribution->frac_bits);
	double high = (double)bucket_high(slot, distribution->frac_bits);
	double scale = (double)(1ull << bucket_shift(slot, distribution->frac_bits));
	double mean;

	if (!values->count)
		return low;
	/* Bits that were dropped make it too small by less than one step of the scale; and count
	 * and sum may have been read at different moments. */
	mean = (double)values->sum / (double)values->count * scale;
	return mean < low ? low : mean > high ? high : mean;
}

struct kstats_percentile kstats_percentile(const struct kstats_distribution *distribution,
					   double fraction)
{
	double share = fraction * (double)distribution->count;
	uint64_t rank = (uint64_t)share, passed = 0;

	/* Ranks are from 1. */
	if ((double)rank < share || !rank)
		rank++;
	if (rank > distribution->count)
		rank = distribution->count;
	for (unsigned slot = 0; rank && slot < BUCKET_SLOTS(distribution->frac_bits); slot++) {
		passed += distribution->slots[slot].count;
		if (passed >= rank)
			return (struct kstats_percentile){
				.slot = slot,
				.low = bucket_low(slot, distribution->frac_bits),
				.high = bucket_high(slot, distribution->frac_bits),
				.mean = kstats_slot_mean(distribution, slot),
			};
	}
	return (struct kstats_percentile){ 0 };
}

double kstats_mean(const struct kstats_distribution *distribution)
{
	double sum = 0;

	if (!distribution->count)
		return 0;
	for (unsigned slot = 0; slot < BUCKET_SLOTS(distribution->frac_bits); slot++)
		if (distribution->slots[slot].count)
			sum += kstats_slot_mean(distribution, slot) *
			       (double)distribution->slots[slot].count;
	return sum / (double)distribution->count;
}

struct kstats_bounds kstats_count_to(const struct kstats_distribution *distribution, uint64_t value)
{
	struct kstats_bounds bounds = { 0 };

	for (unsigned slot = 0; slot < BUCKET_SLOTS(distribution->frac_bits); slot++) {
		uint64_t count = distribution->slots[slot].count;

		if (!count)
			continue;
		if (bucket_low(slot, distribution->frac_bits) > value)
			break;
		bounds.most += count;
		if (bucket_high(slot, distribution->frac_bits) <= value)
			bounds.least += count;
	}
	return bounds;
}
