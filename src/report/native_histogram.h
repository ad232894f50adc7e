/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Histograms in log-linear slots as native histograms of Prometheus, in seconds.
 *
 * Bucket i of schema 3 holds what is above 2^((i-1)/8) and at most 2^(i/8): it is 9 % as wide as
 * its values. Slots (of METRIC_FRAC_BITS, at most 6.25 % as wide as their values) have other
 * bounds. Each slot is counted whole in the bucket that has its middle, so that buckets only grow,
 * as counters must; a slot that was divided by proportion would not. A value may so be outside of
 * its bucket, by half the width of its slot at most: 3.2 % of the value. Values below
 * NATIVE_ZERO_NS are in the bucket of zeros.
 */
#ifndef REPORT_NATIVE_HISTOGRAM_H
#define REPORT_NATIVE_HISTOGRAM_H

#include <stdbool.h>

#include "histogram/histogram.h"

#define NATIVE_SCHEMA  3
#define NATIVE_ZERO_NS 1024

/* Buckets of all values from NATIVE_ZERO_NS to the largest number. */
#define NATIVE_BUCKETS_MAX (54 * (1 << NATIVE_SCHEMA) + 1)

/* A run of buckets without an empty one between them. */
struct native_span {
	int32_t offset; /* the index of the first one; from the end of the span before, if there is
			 */
	uint32_t length;
};

struct native_histogram {
	uint64_t count, zero_count;
	double sum; /* seconds */
	unsigned span_count, bucket_count;
	struct native_span spans[NATIVE_BUCKETS_MAX];
	uint64_t buckets[NATIVE_BUCKETS_MAX]; /* of all spans */
};

/* The index of the bucket in which a slot is counted. */
int native_bucket_of(unsigned slot, unsigned frac_bits);
/* The upper bound of a bucket, in seconds. */
double native_bucket_bound(int bucket);

void native_histogram_of(const struct histogram *histogram, struct native_histogram *ret);

#endif
