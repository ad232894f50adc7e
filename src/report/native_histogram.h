/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts histograms in log-linear slots to native histograms of Prometheus, in seconds.
 *
 * Bucket i of schema 3 holds values in (2^((i-1)/8), 2^(i/8)]: its width is 9 % of its values.
 * Slots have other bounds; with METRIC_FRAC_BITS their width is at most 6.25 % of their values. A
 * slot is counted as a whole in the bucket that contains its middle, so that buckets never
 * decrease, as counters must not; dividing a slot between buckets by proportion would not keep
 * that. A value may therefore be counted in a neighbouring bucket, off by at most half the width of
 * its slot, 3.2 % of the value. Values below NATIVE_ZERO_NS are in the zero bucket.
 */
#ifndef REPORT_NATIVE_HISTOGRAM_H
#define REPORT_NATIVE_HISTOGRAM_H

#include <stdbool.h>

#include "histogram/histogram.h"

#define NATIVE_SCHEMA  3
#define NATIVE_ZERO_NS 1024

/* Buckets for all values from NATIVE_ZERO_NS to UINT64_MAX. */
#define NATIVE_BUCKETS_MAX (54 * (1 << NATIVE_SCHEMA) + 1)

/* A run of consecutive buckets that are not empty. */
struct native_span {
	int32_t offset; /* buckets skipped since the last span; first span: an index */
	uint32_t length;
};

struct native_histogram {
	uint64_t count, zero_count;
	double sum; /* seconds */
	unsigned span_count, bucket_count;
	struct native_span spans[NATIVE_BUCKETS_MAX];
	uint64_t buckets[NATIVE_BUCKETS_MAX]; /* of all spans, in order */
};

/* The index of the bucket that counts a slot. */
int native_bucket_of(unsigned slot, unsigned frac_bits);
/* The upper bound of a bucket in seconds, inclusive. */
double native_bucket_bound(int bucket);

void native_histogram_of(const struct histogram *histogram, struct native_histogram *ret);

#endif
