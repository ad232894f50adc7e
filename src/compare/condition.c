/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/condition.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/term.h"

/* --- expressions --- */

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
static struct error *take_left(const struct condition_text *parsed,
			       struct error *(*find_metric)(const char *name, unsigned *ret),
			       struct condition *condition)
{
	_cleanup_free_ char *name = strndup(parsed->name.bytes, parsed->name.length);
	struct error *err = name ? find_metric(name, &condition->metric) : &error_no_memory;

	if (err)
		return err;
	if (has_no_number(condition->metric))
		return error_create("'%s' is not a number", name);
	if (!parsed->group.length)
		return NULL;
	condition->group = strndup(parsed->group.bytes, parsed->group.length);
	return condition->group ? pattern_check(condition->group) : &error_no_memory;
}

struct error *condition_parse(const char *text,
			      struct error *(*find_metric)(const char *name, unsigned *ret),
			      struct condition *ret)
{
	struct condition condition = { .text = text };
	struct condition_text parsed;
	struct error *err = condition_text_parse(text, &parsed);

	if (err)
		return err;
	condition.operator= parsed.operator;
	err = take_left(&parsed, find_metric, &condition);
	if (!err)
		err = parse_bound(parsed.bound, &condition);
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
	return condition_holds(condition->operator, value, bound);
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
