/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/merge.h"
#include "compare/report_fill.h"

#include <math.h>
#include <stdlib.h>

static bool find_label(struct merges *merges, const struct name *label, uint32_t *ret)
{
	uint32_t *number = word_map_at(&merges->numbers, (struct words){ { (uintptr_t)label } });

	if (!number)
		return false;
	if (*number == WORD_MAP_NEW) {
		*number = (uint32_t)merges->labels.count;
		if (!array_push(&merges->labels, (struct merge_label){ .label = label }))
			return false;
	}
	*ret = *number;
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
	__int128 *value = &merged->sides[side].value;
	__int128 other = merged->measure->is_signed ? (__int128)(int64_t)reading->value
						    : (__int128)reading->value;
	bool first = !merged->sides[side].had, *unlimited = &merged->sides[side].unlimited;

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
	merged->sides[side].had++;
}

bool merges_add(struct merges *merges, const struct name *label, const struct measure *measure,
		enum merge_side side, enum merge merge, struct reading reading)
{
	uint32_t *number;

	if (!reading.measured)
		return true;
	number = word_map_at(&merges->numbers,
			     (struct words){ { (uintptr_t)label, (uintptr_t)measure } });
	if (!number)
		return false;
	if (*number == WORD_MAP_NEW) {
		*number = (uint32_t)merges->count;
		if (!array_push(merges, (struct merged){ .label = label, .measure = measure }))
			return false;
	}
	merge_into(&merges->items[*number], side, merge, &reading);
	return true;
}

/* --- rows --- */

struct merged_place {
	const struct merged *merged;
	uint32_t place; /* of its label */
};

static int row_by_place(const void *a, const void *b)
{
	const struct merged_place *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->merged->measure->number > y->merged->measure->number) -
	       (x->merged->measure->number < y->merged->measure->number);
}

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

static void weigh_by(const struct merges *merges, const struct measure *leading,
		     struct label_place *labels)
{
	for (size_t i = 0; i < merges->count; i++) {
		const struct merged *merged = &merges->items[i];
		uint32_t label = word_map_find(&merges->numbers,
					       (struct words){ { (uintptr_t)merged->label } });

		if (merged->measure == leading)
			labels[label].weight = (double)merged->sides[MERGE_AFTER].value;
	}
}

/* The place of each label, by its number in the merges. */
static uint32_t *place_labels(const struct merges *merges, const struct report *report,
			      const struct measure *leading)
{
	size_t count = merges->labels.count;
	_cleanup_free_ struct label_place *labels = calloc(count + 1, sizeof(*labels));
	_cleanup_free_ uint32_t *places = malloc(count * sizeof(*places) + 1);

	if (!labels || !places)
		return NULL;
	for (size_t i = 0; i < count; i++)
		labels[i] = (struct label_place){ merges->labels.items[i].label, (uint32_t)i, 0 };
	if (leading)
		weigh_by(merges, leading, labels);
	else if (report->view->order == ORDER_GROUPS && !weigh_by_rank(report, labels, count))
		return NULL;
	qsort(labels, count, sizeof(*labels), by_weight);
	for (size_t i = 0; i < count; i++)
		places[labels[i].number] = (uint32_t)i;
	return take_ptr(places);
}

static struct datum datum_of(const struct merged *merged, const struct merge_label *label,
			     enum merge_side side)
{
	struct datum datum = { 0 };

	if (!merged->sides[side].had)
		return datum;
	datum = datum_number(merged->sides[side].value);
	if (merged->sides[side].unlimited)
		datum.kind = DATUM_UNLIMITED;
	datum.partial = merged->sides[side].had < label->members[side];
	datum.measured = merged->sides[side].had;
	datum.threads = label->members[side];
	return datum;
}

static bool add_merged_rows(const struct merges *merges, struct report *report,
			    const struct merged_place *placed)
{
	for (size_t i = 0; i < merges->count; i++) {
		const struct merged *merged = placed[i].merged;
		uint32_t number = word_map_find(&merges->numbers,
						(struct words){ { (uintptr_t)merged->label } });
		const struct merge_label *label = &merges->labels.items[number];
		struct datum before = datum_of(merged, label, MERGE_BEFORE);
		struct datum after = datum_of(merged, label, MERGE_AFTER);

		/* A process that one side has not is absent, which is no value. */
		if (report->comparing &&
		    section_infos[merged->measure->section].subject == SUBJECT_PROCESS &&
		    !(label->members[MERGE_BEFORE] && label->members[MERGE_AFTER]))
			continue;
		if (!report_add(report, merged->measure, merged->label, placed[i].place, &before,
				&after))
			return false;
	}
	return true;
}

bool merges_rows(struct merges *merges, struct report *report, const struct measure *leading)
{
	_cleanup_free_ uint32_t *places = place_labels(merges, report, leading);
	_cleanup_free_ struct merged_place *placed = calloc(merges->count + 1, sizeof(*placed));

	if (!places || !placed)
		return false;
	for (size_t i = 0; i < merges->count; i++) {
		uint32_t label = word_map_find(
			&merges->numbers, (struct words){ { (uintptr_t)merges->items[i].label } });

		placed[i] = (struct merged_place){ &merges->items[i], places[label] };
	}
	qsort(placed, merges->count, sizeof(*placed), row_by_place);
	return add_merged_rows(merges, report, placed);
}

void merges_deinit(struct merges *merges)
{
	word_map_deinit(&merges->numbers);
	array_deinit(&merges->labels);
	array_deinit(merges);
}
