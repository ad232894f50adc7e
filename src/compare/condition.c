/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/condition.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/term.h"

/* --- expressions --- */

static const struct {
	const char *text;
	enum condition_operator operator;
} operators[] = {
	/* The longer ones first. */
	{ ">=", CONDITION_AT_LEAST },
	{ "<=", CONDITION_AT_MOST },
	{ ">", CONDITION_ABOVE },
	{ "<", CONDITION_BELOW },
};

/* May a bound of this metric have this unit? */
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

static struct error *parse_bound(struct text text, struct condition *condition)
{
	bool is_ratio = condition->metric >= METRIC_COUNT &&
			derived_metrics[condition->metric - METRIC_COUNT].is_ratio;

	text = text_trim(text);
	if (!units_parse(text, &condition->bound))
		return error_create("invalid amount '%.*s': expected e.g. 10%%, 5ms, 1MiB, 1000",
				    (int)text.length, text.bytes);
	if (condition->bound.percent && is_ratio)
		return error_create(
			"a limit of a ratio cannot be in percent: use 0.05 for five points");
	if (!bound_fits(&condition->bound, condition->metric))
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
				struct condition *condition)
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
	err = find_metric(copy, &condition->metric);
	if (err)
		return err;
	if (has_no_number(condition->metric))
		return error_create("'%s' is not a number", copy);
	if (!group.length)
		return NULL;
	condition->group = strndup(group.bytes, group.length);
	return condition->group ? pattern_check(condition->group) : &error_no_memory;
}

struct error *condition_parse(const char *text,
			      struct error *(*find_metric)(const char *name, unsigned *ret),
			      struct condition *ret)
{
	struct condition condition = { .text = text };
	const char *at = strpbrk(text, "<>");
	struct error *err;
	size_t which = 0;

	/* A name of a group may hold them too: the last one counts. */
	for (const char *next = at; next; next = strpbrk(next + 1, "<>"))
		at = next;
	if (!at)
		return error_create("missing operator in '%s': expected >, >=, < or <=", text);
	while (strncmp(at, operators[which].text, strlen(operators[which].text)) != 0)
		which++;
	condition.operator= operators[which].operator;
	err = parse_left((struct text){ text, (size_t)(at - text) }, find_metric, &condition);
	if (!err)
		err = parse_bound(text_of(at + strlen(operators[which].text)), &condition);
	if (err) {
		free(condition.group);
		return err;
	}
	*ret = condition;
	return NULL;
}

/* --- judging --- */

bool condition_start(struct report *report)
{
	const struct view *view = report->view;

	for (size_t i = 0; report->comparing && i < view->conditions.count; i++)
		if (!array_push(
			    &report->results,
			    (struct condition_result){ .condition = &view->conditions.items[i] }))
			return false;
	return true;
}

bool condition_is_about(const struct condition *condition, const struct name *group)
{
	return !condition->group || term_matches(condition->group, name_text(group), TERM_WHOLE);
}

static bool is_broken(const struct condition *condition, const struct row *row)
{
	double value = row->change.delta * (double)unit_scale(row->measure->unit);
	double bound = condition->bound.value;

	if (condition->bound.percent)
		value = row->change.has_share ? row->change.share * 100 : 0;
	switch (condition->operator) {
	case CONDITION_ABOVE:
		return value > bound;
	case CONDITION_AT_LEAST:
		return value >= bound;
	case CONDITION_BELOW:
		return value < bound;
	case CONDITION_AT_MOST:
		return value <= bound;
	}
	return false;
}

bool condition_judge(struct condition_result *result, const struct row *row)
{
	result->groups++;
	if (!row->change.has_delta || row_is_impossible(row)) {
		result->unmeasured += !row->change.has_delta;
		result->impossible += row->change.has_delta;
		return true;
	}
	if (!is_broken(result->condition, row))
		return true;
	result->count++;
	return array_push(&result->broken.row_groups[unit_dimension(row->measure->unit)], *row);
}

void condition_finish(struct report *report)
{
	for (size_t i = 0; i < report->results.count; i++) {
		struct condition_result *result = &report->results.items[i];

		report_section_finish(&result->broken, report->view);
		if (result->count)
			result->verdict = VERDICT_BROKEN;
		else if (!result->groups || result->unmeasured || result->impossible)
			result->verdict = VERDICT_UNDECIDED;
	}
}

enum verdict condition_verdict(const struct report *report)
{
	enum verdict worst = VERDICT_HOLDS;

	for (size_t i = 0; i < report->results.count; i++) {
		enum verdict verdict = report->results.items[i].verdict;

		if (verdict == VERDICT_BROKEN)
			return VERDICT_BROKEN;
		if (verdict == VERDICT_UNDECIDED)
			worst = VERDICT_UNDECIDED;
	}
	return worst;
}
