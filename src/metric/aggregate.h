/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many threads as one value, by the rule of each metric.
 *
 * An aggregate knows how many threads it saw and in how many of them the metric was measured;
 * only the measured ones count. When there was none, it has no value.
 */
#ifndef METRIC_AGGREGATE_H
#define METRIC_AGGREGATE_H

#include "base/array.h"
#include "metric/datum.h"
#include "metric/metric.h"

/* A category and its number of threads. */
struct tally {
	const struct name *label; /* of a label; NULL for letters and flags */
	int64_t code;             /* of a letter or flag */
	size_t count;
};

struct aggregate {
	size_t threads, measured;
	size_t impossible; /* threads with an impossible value; of FAMILY_MAX, only the largest
			      counts */
	union {
		uint64_t total;   /* FAMILY_SUM: saturates at UINT64_MAX */
		uint64_t largest; /* FAMILY_MAX */
		struct {
			int64_t smallest, largest;
		} range; /* FAMILY_RANGE */
		struct {
			ARRAY(struct tally);
		} mode; /* FAMILY_MODE */
		struct {
			size_t fewest, most;    /* CPUs */
			const struct name *set; /* what all have, NULL when they differ */
		} affinity;                     /* FAMILY_AFFINITY */
	};
};

/* Take the value of one more thread in, which has it measured, and cannot be if `impossible`.
 * `threads` is the caller's to count: it is the same for all metrics of a group. False when out of
 * memory. */
bool aggregate_take(struct aggregate *a, const struct metric *metric,
		    const struct thread_values *values, bool impossible);

/* Add the time of a wait in progress, which the kernel has not accounted yet, of a thread whose
 * value was added. */
void aggregate_take_wait(struct aggregate *a, const struct metric *metric,
			 const struct thread_record *thread);

void aggregate_deinit(struct aggregate *a, const struct metric *metric);

/*
 * Was the metric measured in every thread that can have it? Only then do two groups compare: what
 * part of the threads adds up to is no smaller than the whole for a reason.
 */
bool aggregate_is_complete(const struct aggregate *a, const struct metric *metric);

/* The most frequent category; of several the smallest (by bytes, by code). NULL when none was
 * measured. */
const struct tally *aggregate_mode(const struct aggregate *a);

/* The value, and how much of it was measured. */
struct datum aggregate_datum(const struct aggregate *a, const struct metric *metric);

/* Reset to zero, but keep the allocated memory for the next threads. */
void aggregate_reset(struct aggregate *a, const struct metric *metric);

#endif
