/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/view.h"

#include <stdlib.h>

#include "base/term.h"

void view_init(struct view *view)
{
	*view = (struct view){
		.axis = &group_axes[AXIS_PCOMM],
		.metrics = { .derived = (1u << DERIVED_COUNT) - 1 },
		.sections = SECTIONS_ALL,
	};
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		metric_set_add(&view->metrics.metrics, i);
}

void view_deinit(struct view *view)
{
	for (size_t i = 0; i < view->conditions.count; i++)
		free(view->conditions.items[i].group);
	array_deinit(&view->conditions);
	array_deinit(&view->match);
	array_deinit(&view->not_match);
	array_deinit(&view->keys.cgroups.flatten);
}

void view_hide_waits(struct view *view)
{
	if (view->metrics_named || view->all_rows)
		return;
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metrics[i].in_progress)
			metric_set_remove(&view->metrics.metrics, metrics[i].in_progress);
	metric_set_remove(&view->metrics.metrics, METRIC_state_now_ns);
}

bool view_is_own(const struct name *group)
{
	return group && text_equal(name_text(group), TEXT("ctprof"));
}

/* A name that has characters of globs in it also matches itself, as people copy it. */
static bool matches_any(const struct patterns *patterns, const struct name *group)
{
	for (size_t i = 0; i < patterns->count; i++)
		if ((group && text_equal(text_of(patterns->items[i]), name_text(group))) ||
		    term_matches(patterns->items[i], name_text(group), TERM_WHOLE))
			return true;
	return false;
}

bool view_matches(const struct view *view, const struct name *group)
{
	return (!view->match.count || matches_any(&view->match, group)) &&
	       !matches_any(&view->not_match, group);
}
