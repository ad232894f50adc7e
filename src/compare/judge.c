/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/judge.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

/* --- expressions --- */

static const struct {
	const char *text;
	enum judge_operator operator;
} operators[] = {
	/* The longer ones first. */
	{ ">=", JUDGE_AT_LEAST },
	{ "<=", JUDGE_AT_MOST },
	{ ">", JUDGE_ABOVE },
	{ "<", JUDGE_BELOW },
};

/* What a bound of this unit may be given in. */
static bool bound_fits(const struct amount *bound, unsigned metric)
{
	enum unit unit = metric < METRIC_COUNT ? metrics[metric].unit
					       : derived_metrics[metric - METRIC_COUNT].unit;
	enum dimension dimension = unit_dimension(unit);

	/* A number of no unit is a count, and what a ratio is in. */
	return bound->percent || bound->dimension == dimension || bound->value == 0 ||
	       (dimension == DIMENSION_OTHER && bound->dimension == DIMENSION_COUNT);
}

static bool has_no_number(unsigned metric)
{
	return metric < METRIC_COUNT &&
	       (metrics[metric].family == FAMILY_MODE || metrics[metric].family == FAMILY_NONE);
}

static struct error *parse_bound(struct text text, struct judgement *judgement)
{
	bool is_ratio = judgement->metric >= METRIC_COUNT &&
			derived_metrics[judgement->metric - METRIC_COUNT].is_ratio;

	text = text_trim(text);
	if (!units_parse(text, &judgement->bound))
		return error_create("'%.*s' is no amount: 10%%, 5ms, 1MiB, 1000", (int)text.length,
				    text.bytes);
	if (judgement->bound.percent && is_ratio)
		return error_create("a ratio has no percentages: say 0.05 for five points");
	if (!bound_fits(&judgement->bound, judgement->metric))
		return error_create(
			"'%.*s' is in another unit than the metric: times are in ns, us, "
			"ms or s, sizes in B, KiB, MiB, GiB or TiB, counts in nothing, "
			"K, M or G",
			(int)text.length, text.bytes);
	return NULL;
}

/* "GROUP:METRIC". */
static struct error *parse_left(struct text text,
				struct error *(*find_metric)(const char *name, unsigned *ret),
				struct judgement *judgement)
{
	const char *colon = memrchr(text.bytes, ':', text.length);
	struct text group = { text.bytes, colon ? (size_t)(colon - text.bytes) : 0 }, name = text;
	_cleanup_free_ char *copy = NULL;
	struct error *err;

	if (colon)
		name = (struct text){ colon + 1, text.length - group.length - 1 };
	name = text_trim(name);
	group = text_trim(group);
	copy = strndup(name.bytes, name.length);
	if (!copy)
		return &error_no_memory;
	err = find_metric(copy, &judgement->metric);
	if (err)
		return err;
	if (has_no_number(judgement->metric))
		return error_create("'%s' is not a number", copy);
	if (!group.length)
		return NULL;
	judgement->group = strndup(group.bytes, group.length);
	return judgement->group ? pattern_check(judgement->group) : &error_no_memory;
}

struct error *judgement_parse(const char *text,
			      struct error *(*find_metric)(const char *name, unsigned *ret),
			      struct judgement *ret)
{
	struct judgement judgement = { .text = text };
	const char *at = strpbrk(text, "<>");
	struct error *err;
	size_t which = 0;

	/* A name of a group may hold them too: the last one counts. */
	for (const char *next = at; next; next = strpbrk(next + 1, "<>"))
		at = next;
	if (!at)
		return error_create("'%s' has no operator: > >= < <=", text);
	while (strncmp(at, operators[which].text, strlen(operators[which].text)) != 0)
		which++;
	judgement.operator= operators[which].operator;
	err = parse_left((struct text){ text, (size_t)(at - text) }, find_metric, &judgement);
	if (!err)
		err = parse_bound(text_of(at + strlen(operators[which].text)), &judgement);
	if (err) {
		free(judgement.group);
		return err;
	}
	*ret = judgement;
	return NULL;
}

/* --- judging --- */

bool judge_start(struct sheet *sheet)
{
	const struct view *view = sheet->view;

	for (size_t i = 0; sheet->comparing && i < view->judgements.count; i++)
		if (!array_push(&sheet->findings,
				(struct finding){ .judgement = &view->judgements.items[i] }))
			return false;
	return true;
}

bool judge_is_about(const struct judgement *judgement, const struct name *group)
{
	return !judgement->group || fnmatch(judgement->group, group->bytes, 0) == 0;
}

static bool is_broken(const struct judgement *judgement, const struct row *row)
{
	double value = row->change.delta * (double)unit_scale(row->measure->unit);
	double bound = judgement->bound.value;

	if (judgement->bound.percent)
		value = row->change.has_share ? row->change.share * 100 : 0;
	switch (judgement->operator) {
	case JUDGE_ABOVE:
		return value > bound;
	case JUDGE_AT_LEAST:
		return value >= bound;
	case JUDGE_BELOW:
		return value < bound;
	case JUDGE_AT_MOST:
		return value <= bound;
	}
	return false;
}

bool judge_row(struct finding *finding, const struct row *row)
{
	finding->groups++;
	if (!row->change.has_delta || row_is_impossible(row)) {
		finding->unmeasured += !row->change.has_delta;
		finding->impossible += row->change.has_delta;
		return true;
	}
	if (!is_broken(finding->judgement, row))
		return true;
	finding->count++;
	return array_push(&finding->broken.blocks[unit_dimension(row->measure->unit)], *row);
}

void judge_finish(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->findings.count; i++) {
		struct finding *finding = &sheet->findings.items[i];

		part_finish(&finding->broken, sheet->view);
		if (finding->count)
			finding->verdict = VERDICT_BROKEN;
		else if (!finding->groups || finding->unmeasured || finding->impossible)
			finding->verdict = VERDICT_UNDECIDED;
	}
}

enum verdict judge_verdict(const struct sheet *sheet)
{
	enum verdict worst = VERDICT_HOLDS;

	for (size_t i = 0; i < sheet->findings.count; i++) {
		enum verdict verdict = sheet->findings.items[i].verdict;

		if (verdict == VERDICT_BROKEN)
			return VERDICT_BROKEN;
		if (verdict == VERDICT_UNDECIDED)
			worst = VERDICT_UNDECIDED;
	}
	return worst;
}
