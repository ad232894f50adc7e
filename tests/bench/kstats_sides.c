/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats_sides.h"

#include <sys/rseq.h>

__thread struct bench_histogram *bench_mine;
struct bench_by_cpu bench_by_cpu;
struct bench_histogram bench_shared;

void bench_nothing(struct kstats *key, uint64_t value)
{
	(void)key, (void)value;
}

void bench_record_local(struct kstats *key, uint64_t value)
{
	struct bench_histogram *mine = bench_mine;
	unsigned rest = bucket_rest(value, mine->frac_bits);
	unsigned slot = bucket_slot_of_rest(value, mine->frac_bits, rest);

	(void)key;
	mine->slots[slot].count++;
	mine->slots[slot].sum += value >> bucket_shift_of_rest(rest);
}

/* The library has to do the same; the bench shows what it does beyond this. */
void bench_record_by_cpu(struct kstats *key, uint64_t value)
{
	const struct bench_by_cpu *all = &bench_by_cpu;
	const struct rseq *rseq = (void *)((char *)__builtin_thread_pointer() + all->rseq_offset);
	unsigned cpu = *(const volatile uint32_t *)&rseq->cpu_id_start;
	struct kstats_slot *slots = (void *)(all->histograms + cpu * all->histogram_bytes);
	unsigned rest = bucket_rest(value, all->frac_bits);
	unsigned slot = bucket_slot_of_rest(value, all->frac_bits, rest);

	(void)key;
	slots[slot].count++;
	slots[slot].sum += value >> bucket_shift_of_rest(rest);
}

void bench_record_atomic(struct kstats *key, uint64_t value)
{
	struct bench_histogram *shared = &bench_shared;
	unsigned rest = bucket_rest(value, shared->frac_bits);
	unsigned slot = bucket_slot_of_rest(value, shared->frac_bits, rest);

	(void)key;
	__atomic_fetch_add(&shared->slots[slot].count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->slots[slot].sum, value >> bucket_shift_of_rest(rest),
			   __ATOMIC_RELAXED);
}
