/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/condition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/term.h"
#include "histogram/histogram.h"

static struct error *parse_bound(struct text text, struct kstats_condition *condition)
{
	struct amount *bound = &condition->bound;

	if (!units_parse(text, bound) || (!bound->percent && bound->dimension != DIMENSION_TIME &&
					  bound->dimension != DIMENSION_COUNT))
		return error_create("invalid amount '%.*s': expected e.g. 10%%, 5ms, 1000",
				    (int)(text.length < 60 ? text.length : 60), text.bytes);
	if (!bound->percent && bound->dimension == DIMENSION_TIME &&
	    kstats_aspect_is_number(&condition->aspect))
		return error_create("'%.*s' is a time, and the condition is about a number",
				    (int)(text.length < 60 ? text.length : 60), text.bytes);
	return NULL;
}

struct error *kstats_condition_parse(const char *text, struct kstats_condition *ret)
{
	struct kstats_condition condition = { .text = text };
	struct condition_text parsed;
	struct error *err = condition_text_parse(text, &parsed);

	if (err)
		return err;
	if (!kstats_aspect_parse(parsed.name, &condition.aspect))
		return error_create("unknown quantity '%.*s': expected p0 to p100, max, mean, "
				    "count or lost",
				    (int)(parsed.name.length < 60 ? parsed.name.length : 60),
				    parsed.name.bytes);
	condition.operator= parsed.operator;
	err = parse_bound(parsed.bound, &condition);
	if (err)
		return err;
	if (parsed.group.length) {
		condition.group = strndup(parsed.group.bytes, parsed.group.length);
		err = condition.group ? pattern_check(condition.group) : &error_no_memory;
	}
	if (err)
		kstats_condition_clear(&condition);
	else
		*ret = condition;
	return err;
}

void kstats_condition_clear(struct kstats_condition *condition)
{
	free(condition->group);
	condition->group = NULL;
}

bool kstats_condition_is_about(const struct kstats_condition *condition, const char *title)
{
	return !condition->group || term_matches(condition->group, text_of(title), TERM_WHOLE);
}

/* --- judging --- */

/* In percent of what it was; every rise from zero is above every percentage. */
static double percent_of(double change, double before)
{
	if (before > 0)
		return change / before * 100;
	return change > 0 ? INFINITY : 0;
}

static bool is_supported(const struct kstats_condition *condition,
			 const struct kstats_distribution *of)
{
	if (kstats_aspect_is_number(&condition->aspect))
		return true;
	if (condition->aspect.quantity == KSTATS_QUANTITY_PERCENTILE)
		return percentile_is_known(of->count, condition->aspect.fraction);
	return of->count != 0;
}

static bool is_in_its_unit(const struct kstats_condition *condition,
			   const struct kstats_table *table)
{
	return condition->bound.percent || condition->bound.dimension != DIMENSION_TIME ||
	       strcmp(table->unit, unit_name(UNIT_NS)) == 0;
}

enum kstats_verdict kstats_condition_judge(const struct kstats_condition *condition,
					   const struct kstats_table *before,
					   const struct kstats_table *after,
					   const struct kstats_distribution *old,
					   const struct kstats_distribution *new,
					   struct kstats_measured *ret)
{
	const struct kstats_measured from = kstats_measure(&condition->aspect, before, old);
	const struct kstats_measured to = kstats_measure(&condition->aspect, after, new);
	struct kstats_measured change = { to.low - from.high, to.high - from.low };
	const double bound = condition->bound.value;
	bool low, high;

	*ret = (struct kstats_measured){ NAN, NAN };
	if (!is_supported(condition, old) || !is_supported(condition, new) ||
	    !is_in_its_unit(condition, after) || isnan(change.low) || isnan(change.high))
		return KSTATS_UNDECIDED;
	if (condition->bound.percent)
		change = (struct kstats_measured){ percent_of(change.low, from.high),
						   percent_of(change.high, from.low) };
	*ret = change;
	low = condition_holds(condition->operator, change.low, bound);
	high = condition_holds(condition->operator, change.high, bound);
	if (low != high)
		return KSTATS_UNDECIDED;
	return low ? KSTATS_BROKEN : KSTATS_KEPT;
}
