/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/table.h"
#include "report/unmatched_table.h"
#include "report/wording.h"

const struct report_format_info report_formats[REPORT_FORMAT_COUNT] = {
#define REPORT(id, name, print, limit) [REPORT_##id] = { name, print, limit },
	REPORT_FORMATS(REPORT)
#undef REPORT
};

/* A change of more than half stands out. */
#define LARGE_SHARE 0.5

static enum table_colour colour_of(const struct row *row, enum column column)
{
	if (column == COLUMN_METRIC && measure_is_derived(row->measure))
		return TABLE_DERIVED;
	if ((column != COLUMN_DELTA && column != COLUMN_PERCENT) || !row->change.has_delta ||
	    row->change.delta == 0)
		return TABLE_PLAIN;
	return row->change.delta > 0 ? TABLE_RISE : TABLE_FALL;
}

static bool add_row(struct table *table, const struct report *report, const struct row *row,
		    const struct columns *columns)
{
	char cell[CELL_MAX];

	for (size_t i = 0; i < columns->count; i++) {
		enum column id = columns->ids[i];

		if (!table_add(table, column_text(cell, report, row, id), colour_of(row, id)))
			return false;
		if (id == COLUMN_PERCENT && row->change.has_share &&
		    fabs(row->change.share) > LARGE_SHARE)
			table_bold(table);
	}
	return true;
}

/* Where rows were cut. */
static bool add_left_out(struct table *table, size_t count, const char *what)
{
	_cleanup_free_ char *line = count ? wording_left_out(count, what) : NULL;

	return !count || (line && table_add_line(table, line));
}

/* Blocks have an empty line between them. */
static bool add_rows(struct table *table, const struct report *report,
		     const struct report_section *section, const struct columns *columns)
{
	for (size_t b = 0; b < ROW_GROUP_COUNT; b++) {
		const struct row_group *group = &section->row_groups[b];

		if (group->count && table->cells.count && !table_add_line(table, ""))
			return false;
		for (size_t i = 0; i < group->count; i++)
			if (!add_row(table, report, &group->items[i], columns))
				return false;
		if (!add_left_out(table, group->left_out, "row"))
			return false;
	}
	return add_left_out(table, section->groups_left_out, "group");
}

static void print_heading(FILE *out, const struct report_style *style, const char *heading)
{
	fprintf(out, style->colour ? "\n\033[1m## %s\033[0m\n" : "\n## %s\n", heading);
}

static struct error *print_rows(FILE *out, const struct report *report,
				const struct report_section *section, const struct columns *wanted,
				const struct report_style *style)
{
	struct columns columns = columns_of_section(wanted, section->id);
	struct table_column headings[COLUMN_COUNT];
	struct table table;
	struct error *err;

	if (!columns.count)
		return NULL;
	for (size_t i = 0; i < columns.count; i++)
		headings[i] = (struct table_column){
			.heading = column_heading(report, section->id, columns.ids[i]),
			.right = column_stands_right(section->id, columns.ids[i]),
		};
	table_init(&table, headings, columns.count);
	err = add_rows(&table, report, section, &columns)
		      ? table_print(&table, out, style->width, style->colour)
		      : &error_no_memory;
	table_deinit(&table);
	return err;
}

static struct error *print_section(FILE *out, const struct report *report, enum section id,
				   const struct columns *columns, const struct report_style *style)
{
	const struct report_section *section = &report->sections[id];
	const char *empty;

	if (report_section_rows(section)) {
		print_heading(out, style, section_infos[id].heading);
		return print_rows(out, report, section, columns, style);
	}
	empty = wording_empty(report, id);
	if (!empty)
		return NULL;
	print_heading(out, style, section_infos[id].heading);
	fprintf(out, " %s\n", empty);
	return NULL;
}

/* --- groups of one side --- */

static bool take_cell(void *context, size_t column, struct text text)
{
	(void)column;
	return table_add(context, text, TABLE_PLAIN);
}

/* Absent is not zero: these are listed, not compared; those that ran longest first. */
static struct error *print_unmatched(FILE *out, const struct report *report, bool before,
				     const struct report_style *style)
{
	_cleanup_free_ char *title = wording_unmatched(report, before);
	struct table_column headings[UNMATCHED_COLUMNS_MAX];
	struct unmatched_table unmatched;
	struct table table;
	struct error *err;
	bool done;

	if (!title)
		return NULL;
	fprintf(out, "\n%s\n", title);
	done = unmatched_table_init(&unmatched, report, before);
	for (size_t i = 0; i < unmatched.columns; i++)
		headings[i] = (struct table_column){ unmatched.headings[i], i > 0 };
	table_init(&table, headings, unmatched.columns);
	for (size_t i = 0; done && i < unmatched.unmatched->count; i++)
		done = unmatched_table_row(&unmatched, i, take_cell, &table);
	done = done && add_left_out(&table, unmatched.unmatched->left_out, "group");
	err = done ? table_print(&table, out, style->width, style->colour) : &error_no_memory;
	table_deinit(&table);
	unmatched_table_deinit(&unmatched);
	return err;
}

static struct error *print_condition_result(FILE *out, const struct report *report,
					    const struct condition_result *result,
					    const struct columns *columns,
					    const struct report_style *style)
{
	_cleanup_free_ char *line = wording_condition_result(result);

	if (!line)
		return &error_no_memory;
	fprintf(out, "\n%s\n", line);
	return result->count ? print_rows(out, report, &result->broken, columns, style) : NULL;
}

struct error *report_text(FILE *out, const struct report *report, const struct report_style *style)
{
	struct columns columns =
		style->columns.count ? style->columns : columns_usual(report, style->format);
	const char *nothing = wording_nothing(report);
	struct error *err = NULL;

	wording_head(out, report);
	if (nothing)
		fprintf(out, "%s\n", nothing);
	for (enum section i = 0; i < SECTION_COUNT && !err; i++)
		if (report_has_section(report, i))
			err = print_section(out, report, i, &columns, style);
	if (!err)
		err = print_unmatched(out, report, true, style);
	if (!err)
		err = print_unmatched(out, report, false, style);
	if (!err)
		wording_coverage(out, report);
	for (size_t i = 0; i < report->results.count && !err; i++)
		err = print_condition_result(out, report, &report->results.items[i], &columns,
					     style);
	return err;
}
