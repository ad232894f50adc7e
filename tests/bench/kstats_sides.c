/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats_sides.h"

__thread struct bench_histogram *bench_mine;
struct bench_histogram bench_shared;

void bench_nothing(struct kstats *key, uint64_t value)
{
	(void)key, (void)value;
}

void bench_record_local(struct kstats *key, uint64_t value)
{
	struct bench_histogram *mine = bench_mine;
	unsigned slot = bucket_slot(value, mine->frac_bits);

	(void)key;
	mine->slots[slot].count++;
	mine->slots[slot].sum += value >> bucket_shift(slot, mine->frac_bits);
}

void bench_record_atomic(struct kstats *key, uint64_t value)
{
	struct bench_histogram *shared = &bench_shared;
	unsigned slot = bucket_slot(value, shared->frac_bits);

	(void)key;
	__atomic_fetch_add(&shared->slots[slot].count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->slots[slot].sum, value >> bucket_shift(slot, shared->frac_bits),
			   __ATOMIC_RELAXED);
}
