/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/distribution.h"

#include <stdlib.h>

static void add_kstats_row(struct kstats_distribution *distribution, const struct kstats_row *row)
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
		add_kstats_row(&made, row);
	else
		for (size_t i = 0; i < table->rows.count; i++)
			add_kstats_row(&made, &table->rows.items[i]);
	*ret = made;
	return NULL;
}

void kstats_distribution_clear(struct kstats_distribution *distribution)
{
	free(distribution->slots);
	*distribution = (struct kstats_distribution){ 0 };
}

unsigned __int128 kstats_slot_sum(const struct kstats_slot *values, unsigned slot,
				  unsigned frac_bits)
{
	unsigned __int128 count = values->count;
	unsigned __int128 low = count * bucket_low(slot, frac_bits);
	unsigned __int128 high = count * bucket_high(slot, frac_bits);
	unsigned __int128 sum = (unsigned __int128)values->sum << bucket_shift(slot, frac_bits);

	return sum < low ? low : sum > high ? high : sum;
}

static unsigned __int128 slot_sum(const struct kstats_distribution *distribution, unsigned slot)
{
	return kstats_slot_sum(&distribution->slots[slot], slot, distribution->frac_bits);
}

double kstats_slot_mean(const struct kstats_distribution *distribution, unsigned slot)
{
	uint64_t count = distribution->slots[slot].count;

	if (!count)
		return (double)bucket_low(slot, distribution->frac_bits);
	return (double)slot_sum(distribution, slot) / (double)count;
}

struct kstats_percentile kstats_ranked(const struct kstats_distribution *distribution,
				       uint64_t rank)
{
	uint64_t passed = 0;

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

/* Shares as doubles are slightly inexact: 7 % of 100 is a little more than 7, which must not become
 * rank 8. So reduce shares by the largest error of a fraction. */
#define TOO_LARGE 0x1p-51L

struct kstats_percentile kstats_percentile(const struct kstats_distribution *distribution,
					   double fraction)
{
	long double share = (long double)fraction * distribution->count * (1 - TOO_LARGE);
	uint64_t rank = distribution->count;

	if (fraction < 1) {
		rank = (uint64_t)share;
		rank += rank < share || !rank;
	}
	return kstats_ranked(distribution, rank < distribution->count ? rank : distribution->count);
}

unsigned __int128 kstats_sum(const struct kstats_distribution *distribution)
{
	unsigned __int128 sum = 0;

	for (unsigned slot = 0; slot < BUCKET_SLOTS(distribution->frac_bits); slot++)
		sum += slot_sum(distribution, slot);
	return sum;
}

double kstats_mean(const struct kstats_distribution *distribution)
{
	if (!distribution->count)
		return 0;
	return (double)kstats_sum(distribution) / (double)distribution->count;
}
