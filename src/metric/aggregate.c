/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/aggregate.h"

static bool add_mode(struct aggregate *a, const struct metric *metric,
		     const struct thread_values *values)
{
	struct tally tally = { .label = metric_load_name(values, metric),
			       .code = metric_load_i64(values, metric),
			       .count = 1 };

	for (size_t i = 0; i < a->mode.count; i++) {
		if (a->mode.items[i].label == tally.label && a->mode.items[i].code == tally.code) {
			a->mode.items[i].count++;
			return true;
		}
	}
	return array_push(&a->mode, tally);
}

static void add_affinity(struct aggregate *a, const struct name *set)
{
	size_t cpus = cpu_set_count(set);
	bool first = a->measured == 0;

	if (first || cpus < a->affinity.fewest)
		a->affinity.fewest = cpus;
	if (first || cpus > a->affinity.most)
		a->affinity.most = cpus;
	if (first)
		a->affinity.set = set;
	else if (a->affinity.set != set)
		a->affinity.set = NULL;
}

static void add_range(struct aggregate *a, int64_t value)
{
	if (a->measured == 0 || value < a->range.smallest)
		a->range.smallest = value;
	if (a->measured == 0 || value > a->range.largest)
		a->range.largest = value;
}

bool aggregate_add(struct aggregate *a, const struct metric *metric,
		   const struct thread_record *thread)
{
	const struct thread_values *values = &thread->values;

	a->threads++;
	if (!metric_set_has(&thread->measured, metric_id(metric)))
		return true;
	switch (metric->family) {
	case FAMILY_NONE:
		return true;
	case FAMILY_SUM:
		if (__builtin_add_overflow(a->total, metric_load_u64(values, metric), &a->total))
			a->total = UINT64_MAX;
		break;
	case FAMILY_MAX: {
		uint64_t value = metric_load_u64(values, metric);

		if (value > a->largest)
			a->largest = value;
		break;
	}
	case FAMILY_RANGE:
		add_range(a, metric_load_i64(values, metric));
		break;
	case FAMILY_MODE:
		if (!add_mode(a, metric, values))
			return false;
		break;
	case FAMILY_AFFINITY:
		add_affinity(a, metric_load_name(values, metric));
		break;
	}
	a->measured++;
	return true;
}

void aggregate_deinit(struct aggregate *a, const struct metric *metric)
{
	if (metric->family == FAMILY_MODE)
		array_deinit(&a->mode);
}

const struct tally *aggregate_mode(const struct aggregate *a)
{
	const struct tally *best = NULL;

	for (size_t i = 0; i < a->mode.count; i++) {
		const struct tally *t = &a->mode.items[i];

		if (!best || t->count > best->count ||
		    (t->count == best->count &&
		     (t->label ? name_compare(t->label, best->label) < 0 : t->code < best->code)))
			best = t;
	}
	return best;
}

bool aggregate_is_complete(const struct aggregate *a, const struct metric *metric)
{
	return a->measured && (metric->leader_only || a->measured == a->threads);
}

static bool same_category(const struct aggregate *a, const struct aggregate *b)
{
	const struct tally *x = aggregate_mode(a), *y = aggregate_mode(b);

	return x->label ? name_compare(x->label, y->label) == 0 : x->code == y->code;
}

bool aggregate_equal(const struct aggregate *a, const struct aggregate *b,
		     const struct metric *metric)
{
	if (!a->measured || !b->measured)
		return a->measured == b->measured;
	switch (metric->family) {
	case FAMILY_NONE:
		return true;
	case FAMILY_SUM:
		return a->total == b->total;
	case FAMILY_MAX:
		return a->largest == b->largest;
	case FAMILY_RANGE:
		return a->range.smallest == b->range.smallest &&
		       a->range.largest == b->range.largest;
	case FAMILY_MODE:
		return same_category(a, b);
	case FAMILY_AFFINITY:
		return a->affinity.fewest == b->affinity.fewest &&
		       a->affinity.most == b->affinity.most &&
		       (a->affinity.set && b->affinity.set
				? name_compare(a->affinity.set, b->affinity.set) == 0
				: a->affinity.set == b->affinity.set);
	}
	return true;
}

bool aggregate_number_x2(const struct aggregate *a, const struct metric *metric, __int128 *ret)
{
	if (!a->measured)
		return false;
	switch (metric->family) {
	case FAMILY_SUM:
		*ret = (__int128)a->total * 2;
		return true;
	case FAMILY_MAX:
		if (metric->zero_is_no_events && !a->largest)
			return false;
		*ret = (__int128)a->largest * 2;
		return true;
	case FAMILY_RANGE:
		*ret = (__int128)a->range.smallest + a->range.largest;
		return true;
	case FAMILY_AFFINITY:
		/* CPU sets of different threads have no one number. */
		if (!a->affinity.set)
			return false;
		*ret = (__int128)(a->affinity.fewest + a->affinity.most);
		return true;
	case FAMILY_NONE:
	case FAMILY_MODE:
		return false;
	}
	return false;
}
