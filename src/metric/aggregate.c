/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/aggregate.h"

#include "base/sum.h"

#define CATEGORIES_MAX 256

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
	/* No kernel has as many; a file may. */
	return a->mode.count == CATEGORIES_MAX || array_push(&a->mode, tally);
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

static void add_total(struct aggregate *a, uint64_t value)
{
	sum_add(&a->total, value);
}

bool aggregate_take(struct aggregate *a, const struct metric *metric,
		    const struct thread_values *values, bool impossible)
{
	switch (metric->family) {
	case FAMILY_NONE:
		return true;
	case FAMILY_SUM:
		add_total(a, metric_load_u64(values, metric));
		break;
	case FAMILY_MAX: {
		uint64_t value = metric_load_u64(values, metric);

		if (value > a->largest) {
			a->largest = value;
			a->impossible = 0;
		}
		impossible &= value == a->largest;
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
	a->impossible += impossible;
	a->measured++;
	return true;
}

void aggregate_take_wait(struct aggregate *a, const struct metric *metric,
			 const struct thread_record *thread)
{
	if (metric->family == FAMILY_SUM && metric_set_has(&thread->measured, metric_id(metric)))
		add_total(a, metric_unaccounted(thread, metric));
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
	return a->measured && (metric->owners != OWNERS_ALL || a->measured == a->threads);
}

/* A letter or flag as text. */
static const char *code_text(const struct metric *metric, int64_t code)
{
	static char letters[256][2];
	unsigned char letter = (unsigned char)code;

	if (metric->type == VALUE_flag)
		return code ? "true" : "false";
	letters[letter][0] = (char)letter;
	return letters[letter];
}

static struct datum mode_datum(const struct aggregate *a, const struct metric *metric)
{
	const struct tally *mode = aggregate_mode(a);

	return (struct datum){
		.kind = DATUM_CATEGORY,
		.category = { .text = mode->label ? mode->label->bytes
						  : code_text(metric, mode->code),
			      .agree = (uint32_t)mode->count },
	};
}

static struct datum value_datum(const struct aggregate *a, const struct metric *metric)
{
	switch (metric->family) {
	case FAMILY_SUM:
		return datum_number(a->total);
	case FAMILY_MAX:
		if (metric->zero_is_no_events && !a->largest)
			return (struct datum){ .kind = DATUM_NO_EVENTS };
		return datum_number(a->largest);
	case FAMILY_RANGE:
		return (struct datum){ .kind = DATUM_RANGE,
				       .range = { a->range.smallest, a->range.largest } };
	case FAMILY_MODE:
		return mode_datum(a, metric);
	case FAMILY_AFFINITY:
		return (struct datum){ .kind = DATUM_CPUS,
				       .cpus = { .set = a->affinity.set,
						 .fewest = (uint32_t)a->affinity.fewest,
						 .most = (uint32_t)a->affinity.most } };
	case FAMILY_NONE:
		break;
	}
	return (struct datum){ 0 };
}

struct datum aggregate_datum(const struct aggregate *a, const struct metric *metric)
{
	struct datum datum = a->measured ? value_datum(a, metric) : (struct datum){ 0 };

	datum.measured = (uint32_t)a->measured;
	datum.threads = (uint32_t)a->threads;
	datum.impossible = (uint32_t)a->impossible;
	datum.partial = !aggregate_is_complete(a, metric);
	return datum;
}

void aggregate_reset(struct aggregate *a, const struct metric *metric)
{
	struct tally *items = NULL;
	size_t room = 0;

	if (metric->family == FAMILY_MODE) {
		items = a->mode.items;
		room = a->mode.room;
	}
	*a = (struct aggregate){ 0 };
	if (metric->family == FAMILY_MODE) {
		a->mode.items = items;
		a->mode.room = room;
	}
}
