/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts histograms in log-linear slots to native histograms of Prometheus.
 *
 * Bucket i of schema s holds values in (2^((i-1)/2^s), 2^(i/2^s)]: with schema 3 its width is 9 %
 * of its values, with 2, 1 and 0 it is 19, 41 and 100 %. Slots have other bounds; the schema is the
 * finest, up to 3, whose buckets are wider than slots are. A slot is counted as a whole in the
 * bucket that contains its middle, so that buckets never decrease, as counters must not; dividing a
 * slot between buckets by proportion would not keep that. A value may therefore be counted in a
 * neighbouring bucket, off by at most half the width of its slot: 3.2 % of the value with 4
 * fractional bits, 6.3 % with 3. Values below `zero` are in the zero bucket.
 */
#ifndef REPORT_NATIVE_HISTOGRAM_H
#define REPORT_NATIVE_HISTOGRAM_H

#include <stdbool.h>

#include "histogram/histogram.h"

#define NATIVE_SCHEMA_MAX 3

/* Buckets for all values from 1 to UINT64_MAX. */
#define NATIVE_BUCKETS_MAX (64 * (1 << NATIVE_SCHEMA_MAX) + 1)

/* How values of a histogram become those of buckets. */
struct native_scale {
	uint64_t unit; /* how many make 1: 10^9 nanoseconds */
	uint64_t zero; /* a power of two */
};

/* A run of consecutive buckets that are not empty. */
struct native_span {
	int32_t offset; /* buckets skipped since the last span; first span: an index */
	uint32_t length;
};

struct native_histogram {
	int schema;
	uint64_t count, zero_count;
	double sum;
	unsigned span_count, bucket_count;
	struct native_span spans[NATIVE_BUCKETS_MAX];
	uint64_t buckets[NATIVE_BUCKETS_MAX]; /* of all spans, in order */
};

/* The schema for slots of so many bits. */
int native_schema_of(unsigned frac_bits);
/* The index of the bucket that counts a slot. */
int native_bucket_of(unsigned slot, unsigned frac_bits, uint64_t unit);
/* The upper bound of a bucket, inclusive. */
double native_bucket_bound(int bucket, int schema);

void native_histogram_of(const struct histogram *histogram, const struct native_scale *scale,
			 struct native_histogram *ret);

#endif
