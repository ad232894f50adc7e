/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/native_histogram.h"

#include <math.h>

int native_schema_of(unsigned frac_bits)
{
	const int schema = (int)frac_bits - 1;

	return schema < 0 ? 0 : schema > NATIVE_SCHEMA_MAX ? NATIVE_SCHEMA_MAX : schema;
}

int native_bucket_of(unsigned slot, unsigned frac_bits, uint64_t unit)
{
	const double low = (double)bucket_low(slot, frac_bits);
	const double middle = low + ((double)bucket_high(slot, frac_bits) - low) / 2;

	return (int)ceil(ldexp(log2(middle / (double)unit), native_schema_of(frac_bits)));
}

double native_bucket_bound(int bucket, int schema)
{
	return exp2(ldexp(bucket, -schema));
}

static void add(struct native_histogram *to, int *next, int bucket, uint64_t count)
{
	if (to->bucket_count && bucket < *next) {
		to->buckets[to->bucket_count - 1] += count;
		return;
	}
	if (!to->span_count || bucket > *next)
		to->spans[to->span_count++].offset = bucket - *next;
	to->spans[to->span_count - 1].length++;
	to->buckets[to->bucket_count++] = count;
	*next = bucket + 1;
}

/* Slots ascend, so their buckets do, too, and each can be appended. */
void native_histogram_of(const struct histogram *histogram, const struct native_scale *scale,
			 struct native_histogram *ret)
{
	const unsigned bits = histogram->frac_bits;
	const unsigned above = bucket_slot(scale->zero, bits);
	int next = 0;

	*ret = (struct native_histogram){ .schema = native_schema_of(bits),
					  .count = histogram->count,
					  .sum = (double)histogram->sum / (double)scale->unit };
	for (unsigned slot = 0; slot < BUCKET_SLOTS(bits); slot++) {
		const uint64_t count = histogram->slots[slot];

		if (count && slot < above)
			ret->zero_count += count;
		else if (count)
			add(ret, &next, native_bucket_of(slot, bits, scale->unit), count);
	}
}
