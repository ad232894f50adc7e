/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram of 64-bit values in log-linear slots (bucket.h).
 *
 *	struct histogram *histogram = histogram_create(3);
 *	histogram_record(histogram, value, 1);
 *	histogram_percentile(histogram, 0.99, &interval);
 *	histogram_destroy(histogram);
 */
#ifndef HISTOGRAM_HISTOGRAM_H
#define HISTOGRAM_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "histogram/bucket.h"

struct histogram {
	unsigned frac_bits; /* at most BUCKET_FRAC_BITS_MAX */
	uint64_t count;     /* of all values */
	uint64_t sum;       /* of all values; stops at its largest */
	uint64_t slots[];   /* BUCKET_SLOTS(frac_bits) counts */
};

/* An empty one; NULL: no memory. */
struct histogram *histogram_create(unsigned frac_bits);
/* Takes NULL. */
void histogram_destroy(struct histogram *histogram);
DEFINE_CLEANUP(histogram_destroy, struct histogram *)

/* `count` values of `value`. */
void histogram_record(struct histogram *histogram, uint64_t value, uint64_t count);
/* `from` is added to `into`, exactly when its frac_bits are not smaller; they must not be. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The value that `fraction` (0 to 1) of all values are not above lies between these, both possible.
 */
struct histogram_interval {
	uint64_t low, high;
};
/* An empty histogram gives 0 to 0. */
struct histogram_interval histogram_percentile(const struct histogram *histogram, double fraction);

/*
 * Are there enough values for this percentile: is at least one of them expected to be above it?
 * With fewer, a percentile is only another name of the largest value: p99.9 takes 1,000 values, p99
 * 100, p50 2. The largest value (1) takes one.
 */
bool percentile_is_known(uint64_t count, double fraction);
/* The least such count. */
uint64_t percentile_needs(double fraction);

#endif
