/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/display.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_LIMIT 500

const char *axis_name(size_t number)
{
	return number < GROUP_AXIS_COUNT ? group_axes[number].name : NULL;
}

const char *section_name(size_t number)
{
	return number < SECTION_COUNT ? metric_sections[number].name : NULL;
}

/* The derived ones are numbered after the others. */
const char *metric_name(size_t number)
{
	if (number < METRIC_COUNT)
		return metrics[number].name;
	number -= METRIC_COUNT;
	return number < DERIVED_COUNT ? derived_metrics[number].name : NULL;
}

static const char *column_name(size_t number, bool comparing)
{
	for (enum report_column i = 0; i < REPORT_COLUMN_COUNT; i++)
		if (report_column_fits(i, comparing) && number-- == 0)
			return report_column_names[i];
	return NULL;
}

const char *show_column_name(size_t number)
{
	return column_name(number, false);
}

const char *compare_column_name(size_t number)
{
	return column_name(number, true);
}

/* The number of a value by name; -1 with an error when there is none. */
static int find_value(const char *what, const char *wanted, option_values values,
		      struct error **ret)
{
	const char *value;

	for (size_t i = 0; (value = values(i)); i++)
		if (strcmp(value, wanted) == 0)
			return (int)i;
	*ret = unknown_value(what, wanted, values);
	return -1;
}

struct error *parse_axis(const char *argument, void *at)
{
	struct report_options *options = at;
	struct error *err = NULL;
	int found = find_value("axis", argument, axis_name, &err);

	if (found >= 0)
		options->axis = &group_axes[found];
	return err;
}

static struct error *take_section(void *context, const char *piece)
{
	struct report_options *options = context;
	struct error *err = NULL;
	int found = find_value("section", piece, section_name, &err);

	if (found >= 0)
		options->sections |= 1u << found;
	return err;
}

struct error *parse_sections(const char *argument, void *at)
{
	((struct report_options *)at)->sections = 0;
	return each_piece(argument, "section", take_section, at);
}

static struct error *take_metric(void *context, const char *piece)
{
	struct report_options *options = context;
	struct error *err = NULL;
	int found = find_value("metric", piece, metric_name, &err);

	if (found >= METRIC_COUNT)
		options->derived |= 1u << (found - METRIC_COUNT);
	else if (found >= 0)
		metric_set_add(&options->metrics, (enum metric_id)found);
	return err;
}

struct error *parse_metrics(const char *argument, void *at)
{
	struct report_options *options = at;

	options->metrics = (struct metric_set){ 0 };
	options->derived = 0;
	options->metrics_named = true;
	return each_piece(argument, "metric", take_metric, at);
}

struct error *parse_match(const char *argument, void *at)
{
	return array_push(&((struct report_options *)at)->match, argument) ? NULL
									   : &error_no_memory;
}

static struct error *take_column(struct report_columns *columns, const char *piece,
				 option_values values)
{
	struct error *err = NULL;
	enum report_column id = 0;

	if (find_value("column", piece, values, &err) < 0)
		return err;
	while (strcmp(report_column_names[id], piece) != 0)
		id++;
	for (size_t i = 0; i < columns->count; i++)
		if (columns->ids[i] == id)
			return error_create("column '%s' stands twice", piece);
	columns->ids[columns->count++] = id;
	return NULL;
}

static struct error *take_show_column(void *context, const char *piece)
{
	return take_column(&((struct report_options *)context)->columns, piece, show_column_name);
}

static struct error *take_compare_column(void *context, const char *piece)
{
	return take_column(&((struct report_options *)context)->columns, piece,
			   compare_column_name);
}

struct error *parse_show_columns(const char *argument, void *at)
{
	((struct report_options *)at)->columns.count = 0;
	return each_piece(argument, "column", take_show_column, at);
}

struct error *parse_compare_columns(const char *argument, void *at)
{
	((struct report_options *)at)->columns.count = 0;
	return each_piece(argument, "column", take_compare_column, at);
}

struct report_options display_defaults(void)
{
	const char *no_color = getenv("NO_COLOR");
	struct report_options options = {
		.axis = &group_axes[0],
		.derived = (1u << DERIVED_COUNT) - 1,
		.sections = (1u << SECTION_COUNT) - 1,
		.limit = DEFAULT_LIMIT,
		.colour = isatty(STDOUT_FILENO) && !(no_color && *no_color),
	};

	for (size_t i = 0; i < METRIC_COUNT; i++)
		metric_set_add(&options.metrics, (enum metric_id)i);
	return options;
}

void print_remarks(const char *path, const struct ctprof_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->remarks.count; i++)
		fprintf(stderr, "ctprof: %s: %s\n", path, snapshot->remarks.items[i]);
}
