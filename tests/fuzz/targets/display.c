/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/glob.h"
#include "cli/display.h"
#include "compare/condition.h"

/* Room for any option's argument of its own. */
struct arguments {
	struct display display;
	struct patterns patterns;
};

/* --- what must hold of what was accepted --- */

static void check_columns(const struct arguments *a)
{
	const struct columns *columns = &a->display.style.columns;

	must(columns->count >= 1 && columns->count <= COLUMN_COUNT);
	for (size_t i = 0; i < columns->count; i++) {
		must(columns->ids[i] < COLUMN_COUNT);
		for (size_t k = 0; k < i; k++)
			must(columns->ids[k] != columns->ids[i]);
	}
}

static void check_sections(const struct arguments *a)
{
	must(a->display.view.sections && !(a->display.view.sections & ~SECTIONS_ALL));
	must(a->display.view.sections_named);
}

static void check_metrics(const struct arguments *a)
{
	const struct selection *chosen = &a->display.view.metrics;

	must(chosen->derived || !metric_set_is_empty(&chosen->metrics));
	must(!(chosen->derived >> DERIVED_COUNT));
	must(a->display.view.metrics_named);
}

/* Ranks of rows stand alone; a metric is a number, and stands once. */
static void check_sort(const struct arguments *a)
{
	const struct view *view = &a->display.view;

	must(view->sort_count <= SORT_KEYS_MAX);
	must(view->order != ORDER_GROUPS || view->sort_count);
	for (size_t i = 0; i < view->sort_count; i++) {
		unsigned metric = view->sort[i].metric;

		must(metric < METRIC_COUNT + DERIVED_COUNT);
		must(metric >= METRIC_COUNT || (metrics[metric].family != FAMILY_MODE &&
						metrics[metric].family != FAMILY_NONE));
		for (size_t k = 0; k < i; k++)
			must(view->sort[k].metric != metric);
	}
}

static void check_min_delta(const struct arguments *a)
{
	const struct view *view = &a->display.view;

	must(isfinite(view->min_percent) && view->min_percent >= 0);
	for (size_t i = 0; i < array_length(view->min_delta); i++)
		must(isfinite(view->min_delta[i]) && view->min_delta[i] >= 0);
}

static void check_fail_if(const struct arguments *a)
{
	static const char name[] = "kworker/u8:7 > a";
	const struct view *view = &a->display.view;
	const struct condition *condition = &view->conditions.items[view->conditions.count - 1];
	struct ctprof_snapshot *s = fuzz_snapshot();

	must(view->conditions.count);
	must(condition->metric < METRIC_COUNT + DERIVED_COUNT);
	must(isfinite(condition->bound.value));
	must(condition->operator<= CONDITION_AT_MOST);
	must(!condition->group || *condition->group);
	must(strpbrk(condition->text, "<>"));
	must(condition->group || condition_is_about(condition, snapshot_name(s, text_of(name))));
	snapshot_destroy(s);
}

static void check_flatten(const struct arguments *a)
{
	const struct cgroup_rules *rules = &a->display.view.keys.cgroups;
	struct error *err = glob_check(rules->flatten.items[rules->flatten.count - 1]);

	must(!err);
}

static void check_axis(const struct arguments *a)
{
	must(a->display.view.axis >= group_axes &&
	     a->display.view.axis < group_axes + GROUP_AXIS_COUNT);
}

static void check_format(const struct arguments *a)
{
	must(a->display.format < REPORT_FORMAT_COUNT);
	must(a->display.style.format < DISPLAY_FORMAT_COUNT);
}

static void check_normalize(const struct arguments *a)
{
	must(a->display.view.normalize == NORMALIZE_AGE ||
	     a->display.view.normalize == NORMALIZE_CPU);
}

static void check_nothing(const struct arguments *a)
{
	(void)a;
}

#define AT(member) offsetof(struct arguments, member)

static const struct {
	option_parse parse;
	size_t offset;
	void (*check)(const struct arguments *a);
	option_values values; /* each of these must be accepted */
} grammars[] = {
	{ parse_axis, 0, check_axis, axis_name },
	{ parse_sections, 0, check_sections, section_name },
	{ parse_metrics, 0, check_metrics, metric_name },
	{ parse_pattern, AT(patterns), check_nothing, NULL },
	{ parse_show_sort, 0, check_sort, NULL },
	{ parse_compare_sort, 0, check_sort, NULL },
	{ parse_limit, 0, check_nothing, NULL },
	{ parse_normalize, AT(display.view.normalize), check_normalize, normalize_name },
	{ parse_flatten, 0, check_flatten, NULL },
	{ parse_show_columns, 0, check_columns, show_column_name },
	{ parse_compare_columns, 0, check_columns, compare_column_name },
	{ parse_format, 0, check_format, format_name },
	{ parse_min_delta, 0, check_min_delta, NULL },
	{ parse_display_format, 0, check_format, display_format_name },
	{ parse_fail_if, 0, check_fail_if, NULL },
};

static void parse_one(struct arguments *a, size_t which, const char *word)
{
	struct error *err = grammars[which].parse(word, (char *)a + grammars[which].offset);

	if (!err) {
		grammars[which].check(a);
		return;
	}
	fuzz_check_error(err);
	/* A value that there is, is a value that it takes. */
	for (size_t i = 0; grammars[which].values && grammars[which].values(i); i++)
		must(strcmp(grammars[which].values(i), word) != 0);
}

/* Options are words that NULs part; the first byte of each chooses the grammar. The words must live
 * as long as what was made of them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arguments a;
	char *copy = malloc(size + 1);
	size_t words = 0;

	must(copy);
	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	a.patterns = (struct patterns){ 0 };
	display_init(&a.display);
	for (const char *word = copy; word < copy + size && words < 16; words++) {
		parse_one(&a, (unsigned char)*word % array_length(grammars),
			  *word ? word + 1 : word);
		word += strlen(word) + 1;
	}
	display_deinit(&a.display);
	array_deinit(&a.patterns);
	free(copy);
	return 0;
}
