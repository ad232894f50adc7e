/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The record of one thread's metrics, made from metrics.def: a member of the right type for each
 * row, an id for each row, and one bit for each row that says whether it was measured.
 *
 *	record.values.run_time_ns.v = 1000;
 *	metric_set_add(&record.measured, METRIC_run_time_ns);
 *
 * A value whose bit is not set means nothing and must not be shown.
 */
#ifndef METRIC_RECORD_H
#define METRIC_RECORD_H

#include "base/array.h"
#include "metric/value.h"

#define METRIC(type, name, ...) struct type name;
struct thread_values {
#include "metric/metrics.def"
};
#undef METRIC

#define METRIC(type, name, ...) METRIC_##name,
enum metric_id {
#include "metric/metrics.def"
	METRIC_COUNT
};
#undef METRIC

/* A set of metric ids. */
struct metric_set {
	uint64_t words[(METRIC_COUNT + 63) / 64];
};

static inline bool metric_set_has(const struct metric_set *set, enum metric_id id)
{
	return set->words[id / 64] >> (id % 64) & 1;
}

static inline void metric_set_add(struct metric_set *set, enum metric_id id)
{
	set->words[id / 64] |= (uint64_t)1 << (id % 64);
}

static inline void metric_set_remove(struct metric_set *set, enum metric_id id)
{
	set->words[id / 64] &= ~((uint64_t)1 << (id % 64));
}

static inline size_t metric_set_count(const struct metric_set *set)
{
	size_t count = 0;

	for (size_t i = 0; i < array_length(set->words); i++)
		count += (size_t)__builtin_popcountll(set->words[i]);
	return count;
}

static inline bool metric_set_is_empty(const struct metric_set *set)
{
	uint64_t any = 0;

	for (size_t i = 0; i < array_length(set->words); i++)
		any |= set->words[i];
	return !any;
}

/* A thread's values, and which of them were measured. All zero is nothing measured. */
struct thread_record {
	struct thread_values values;
	struct metric_set measured;
};

#endif
