/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What recording with libkstats is measured beside: the same slots and sums, by other means. Each
 * is called through a pointer, as the library is, and takes what that takes.
 */
#ifndef TESTS_BENCH_KSTATS_SIDES_H
#define TESTS_BENCH_KSTATS_SIDES_H

#include <stddef.h>
#include <stdint.h>

#include <kstats.h>

#include "kstats/table.h"

struct bench_histogram {
	unsigned frac_bits;
	struct kstats_slot slots[BUCKET_SLOTS(BUCKET_FRAC_BITS_MAX)] __attribute__((aligned(16)));
};

/* The histogram of the calling thread, which each thread creates before it records. */
extern __thread struct bench_histogram *bench_mine;
/* A histogram for each CPU. Recording reads one cache line of this before it writes the slot. */
struct bench_by_cpu {
	ptrdiff_t rseq_offset; /* where the number of the CPU is, from the thread pointer */
	char *histograms;
	size_t histogram_bytes;
	unsigned frac_bits;
} __attribute__((aligned(64)));
extern struct bench_by_cpu bench_by_cpu;
/* One histogram that all threads share. */
extern struct bench_histogram bench_shared;

/* An empty function: the cost of the call. */
void bench_nothing(struct kstats *key, uint64_t value);
/* Record into bench_mine. */
void bench_record_local(struct kstats *key, uint64_t value);
/* Into that of this CPU in bench_by_cpu. Nothing prevents another thread from writing there
 * meanwhile, or this one from moving, so values may be lost: the least that a record by CPU can
 * cost. */
void bench_record_by_cpu(struct kstats *key, uint64_t value);
/* Record into bench_shared by atomic instructions. */
void bench_record_atomic(struct kstats *key, uint64_t value);

#endif
