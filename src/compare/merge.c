/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/merge.h"
#include "compare/report_fill.h"

#include <math.h>
#include <stdlib.h>

/* A label with more numbers than this is also indexed by the map; others are found by a walk of
 * their ring. */
#define WALK_MOST 128

static bool find_label(struct merges *merges, const struct name *label, uint32_t *ret)
{
	uint32_t *number;

	*ret = merges->label;
	if (merges->labels.count && merges->labels.items[merges->label].label == label)
		return true;
	number = word_map_at(&merges->numbers, (struct words){ { (uintptr_t)label } });
	if (!number)
		return false;
	if (*number == WORD_MAP_NEW) {
		*number = (uint32_t)merges->labels.count;
		if (!array_push(&merges->labels, (struct merge_label){ .label = label }))
			return false;
	}
	merges->label = *ret = *number;
	return true;
}

bool merges_member(struct merges *merges, const struct name *label, enum merge_side side)
{
	uint32_t number;

	if (!find_label(merges, label, &number))
		return false;
	merges->labels.items[number].members[side]++;
	return true;
}

static void merge_into(struct merged *merged, enum merge_side side, enum merge merge,
		       const struct reading *reading)
{
	__int128 *value = &merged->value[side];
	__int128 other = merged->measure->is_signed ? (__int128)(int64_t)reading->value
						    : (__int128)reading->value;
	bool first = !merged->had[side], *unlimited = &merged->unlimited[side];

	switch (merge) {
	case MERGE_SUM:
		*value += other;
		break;
	case MERGE_LIMIT:
		*unlimited |= reading->unlimited;
		/* fall through */
	case MERGE_MAX:
		if (first || other > *value)
			*value = other;
		break;
	case MERGE_FLOOR:
		/* Unlimited is larger than any number. */
		*unlimited = (first || *unlimited) && reading->unlimited;
		if (first || other < *value)
			*value = other;
		break;
	}
	merged->had[side]++;
}

/* --- the numbers of a label --- */

static struct words words_of(const struct merge_label *label, const struct measure *measure)
{
	return (struct words){ { (uintptr_t)label->label, (uintptr_t)measure } };
}

/* All members list their numbers in the same order, so the next number of the ring is mostly the
 * right one. */
static uint32_t find_number(const struct merges *merges, const struct merge_label *label,
			    const struct measure *measure)
{
	uint32_t at = label->last;

	if (label->count > WALK_MOST)
		return word_map_find(&merges->numbers, words_of(label, measure));
	for (uint32_t i = 0; i < label->count; i++) {
		at = merges->items[at].next;
		if (merges->items[at].measure == measure)
			return at;
	}
	return WORD_MAP_NEW;
}

/* Index the newest number of a label. When the label first exceeds WALK_MOST, index its whole
 * ring. */
static bool add_to_map(struct merges *merges, const struct merge_label *label)
{
	uint32_t at = label->last, count = label->count == WALK_MOST + 1 ? label->count : 1;

	for (; count; count--, at = merges->items[at].next) {
		uint32_t *number =
			word_map_at(&merges->numbers, words_of(label, merges->items[at].measure));

		if (!number)
			return false;
		*number = at;
	}
	return true;
}

static bool add_number(struct merges *merges, struct merge_label *label,
		       const struct measure *measure)
{
	const uint32_t number = (uint32_t)merges->count;

	if (!array_push(merges, (struct merged){ .measure = measure, .next = number }))
		return false;
	if (label->count) {
		merges->items[number].next = merges->items[label->last].next;
		merges->items[label->last].next = number;
	}
	label->last = number;
	label->count++;
	return label->count <= WALK_MOST || add_to_map(merges, label);
}

bool merges_add(struct merges *merges, const struct name *name, const struct measure *measure,
		enum merge_side side, enum merge merge, struct reading reading)
{
	struct merge_label *label;
	uint32_t number;

	if (!reading.measured)
		return true;
	if (!find_label(merges, name, &number))
		return false;
	label = &merges->labels.items[number];
	number = find_number(merges, label, measure);
	if (number != WORD_MAP_NEW)
		label->last = number;
	else if (!add_number(merges, label, measure))
		return false;
	merge_into(&merges->items[label->last], side, merge, &reading);
	return true;
}

/* --- rows --- */

struct label_place {
	const struct name *label;
	uint32_t number; /* in the merges */
	double weight;   /* the largest first */
};

static int by_weight(const void *a, const void *b)
{
	const struct label_place *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return name_compare(x->label, y->label);
}

/* The key number of a label, or NO_KEY. */
static uint32_t find_key(const struct report *report, const struct name *label)
{
	const struct keys *keys = &report->sides->keys;
	size_t low = 0, high = keys->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint32_t key = report->sides->by_name[middle];
		int order = name_compare(label, keys->items[key].label);

		if (!order)
			return key;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NO_KEY;
}

/* Labels by the rank of their groups: the first weighs most. */
static bool weigh_by_rank(const struct report *report, struct label_place *labels, size_t count)
{
	size_t keys = report->sides->keys.count;
	_cleanup_free_ double *weights = malloc(keys * sizeof(*weights) + 1);

	if (!weights)
		return false;
	for (size_t n = 0; n < keys; n++)
		weights[report->order[n]] = -(double)n;
	for (size_t i = 0; i < count; i++) {
		uint32_t key = find_key(report, labels[i].label);

		labels[i].weight = key == NO_KEY ? -HUGE_VAL : weights[key];
	}
	return true;
}

static double weight_of(const struct merges *merges, const struct merge_label *label,
			const struct measure *leading)
{
	const uint32_t number = find_number(merges, label, leading);

	return number == WORD_MAP_NEW ? 0 : (double)merges->items[number].value[MERGE_AFTER];
}

/* The labels, sorted as their rows are. */
static struct label_place *place_labels(const struct merges *merges, const struct report *report,
					const struct measure *leading)
{
	size_t count = merges->labels.count;
	_cleanup_free_ struct label_place *labels = calloc(count + 1, sizeof(*labels));

	if (!labels)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct merge_label *label = &merges->labels.items[i];

		labels[i] = (struct label_place){ label->label, (uint32_t)i, 0 };
		if (leading)
			labels[i].weight = weight_of(merges, label, leading);
	}
	if (!leading && report->view->order == ORDER_GROUPS &&
	    !weigh_by_rank(report, labels, count))
		return NULL;
	qsort(labels, count, sizeof(*labels), by_weight);
	return take_ptr(labels);
}

static struct datum datum_of(const struct merged *merged, const struct merge_label *label,
			     enum merge_side side)
{
	struct datum datum = { 0 };

	if (!merged->had[side])
		return datum;
	datum = datum_number(merged->value[side]);
	if (merged->unlimited[side])
		datum.kind = DATUM_UNLIMITED;
	datum.partial = merged->had[side] < label->members[side];
	datum.measured = merged->had[side];
	datum.threads = label->members[side];
	return datum;
}

static int by_measure(const void *a, const void *b)
{
	const struct merged *x = *(const struct merged *const *)a;
	const struct merged *y = *(const struct merged *const *)b;

	return (x->measure->number > y->measure->number) -
	       (x->measure->number < y->measure->number);
}

struct merged_list {
	ARRAY(const struct merged *);
};

static bool list_numbers(const struct merges *merges, const struct merge_label *label,
			 struct merged_list *ret)
{
	uint32_t at = label->last;

	array_clear(ret);
	for (uint32_t i = 0; i < label->count; i++, at = merges->items[at].next)
		if (!array_push(ret, &merges->items[at]))
			return false;
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_measure);
	return true;
}

static bool add_rows_of(struct report *report, const struct merge_label *label, uint32_t place,
			const struct merged_list *numbers)
{
	const bool is_on_both = label->members[MERGE_BEFORE] && label->members[MERGE_AFTER];

	for (size_t i = 0; i < numbers->count; i++) {
		const struct merged *merged = numbers->items[i];
		struct datum before = datum_of(merged, label, MERGE_BEFORE);
		struct datum after = datum_of(merged, label, MERGE_AFTER);

		/* A process that one side has not is absent, which is no value. */
		if (report->comparing && !is_on_both &&
		    section_infos[merged->measure->section].subject == SUBJECT_PROCESS)
			continue;
		if (!report_add(report, merged->measure, label->label, place, &before, &after))
			return false;
	}
	return true;
}

bool merges_rows(struct merges *merges, struct report *report, const struct measure *leading)
{
	_cleanup_free_ struct label_place *labels = place_labels(merges, report, leading);
	struct merged_list numbers = { 0 };
	bool done = labels != NULL;

	for (size_t i = 0; done && i < merges->labels.count; i++) {
		const struct merge_label *label = &merges->labels.items[labels[i].number];

		done = list_numbers(merges, label, &numbers) &&
		       add_rows_of(report, label, (uint32_t)i, &numbers);
	}
	array_deinit(&numbers);
	return done;
}

void merges_deinit(struct merges *merges)
{
	word_map_deinit(&merges->numbers);
	array_deinit(&merges->labels);
	array_deinit(merges);
}
