/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What recording with libkstats is measured beside: the same slots and sums, by other means. Each
 * is called through a pointer, as the library is, and takes what that takes.
 */
#ifndef TESTS_BENCH_KSTATS_SIDES_H
#define TESTS_BENCH_KSTATS_SIDES_H

#include <stdint.h>

#include <kstats.h>

#include "kstats/table.h"

struct bench_histogram {
	unsigned frac_bits;
	struct kstats_slot slots[BUCKET_SLOTS(BUCKET_FRAC_BITS_MAX)] __attribute__((aligned(16)));
};

/* Of the thread that calls it; made by each before it records. */
extern __thread struct bench_histogram *bench_mine;
/* Of all threads. */
extern struct bench_histogram bench_shared;

/* Nothing but the call. */
void bench_nothing(struct kstats *key, uint64_t value);
/* Into bench_mine. */
void bench_record_local(struct kstats *key, uint64_t value);
/* Into bench_shared, by atomic instructions. */
void bench_record_atomic(struct kstats *key, uint64_t value);

#endif
