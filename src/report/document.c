/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/document.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "report/fields.h"
#include "report/group_table.h"
#include "report/overview_report.h"
#include "report/unmatched_table.h"
#include "report/wording.h"

static struct table_options text_options(const struct document *d)
{
	return (struct table_options){ .format = d->form->format,
				       .out = d->out,
				       .context = d,
				       .width = d->style->width,
				       .wrap = d->style->wrap,
				       .colour = d->style->colour };
}

struct error *document_text(const struct document *d, document_lines *say, char **ret)
{
	size_t length = 0;
	char *text = NULL;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return &error_no_memory;
	say(memory, d);
	if (!file_close_memory(memory, &text))
		return &error_no_memory;
	*ret = text;
	return NULL;
}

/* --- rows --- */

/* Changes by more than half are printed in bold. */
#define LARGE_SHARE 0.5

static enum table_colour colour_of(const struct row *row, enum column column)
{
	if (column == COLUMN_METRIC && measure_is_derived(row->measure))
		return TABLE_DERIVED;
	if ((column != COLUMN_DELTA && column != COLUMN_PERCENT) || !row->change.has_delta ||
	    row->change.delta == 0)
		return TABLE_PLAIN;
	return (row->change.has_share ? row->change.share : row->change.delta) > 0 ? TABLE_RISE
										   : TABLE_FALL;
}

static void get_row_cell(const void *context, const void *row_, const struct table_column *column,
			 struct table_cell *ret)
{
	const struct document *d = context;
	const struct row *row = row_;

	table_text(ret, column_text(ret->buffer, d->report, row, column->field));
	if (column->exact)
		row_exact(row, (enum row_field)column->argument, ret->exact);
	ret->colour = colour_of(row, column->field);
	ret->bold = column->field == COLUMN_PERCENT && row->change.has_share &&
		    fabs(row->change.share) > LARGE_SHARE;
}

/* The field with the exact value of a column. Columns of texts have 0 (FIELD_ID_SECTION), which is
 * no number. */
static const enum row_field fields_of_columns[COLUMN_COUNT] = {
	[COLUMN_THREADS] = FIELD_ID_THREADS,   [COLUMN_VALUE] = FIELD_ID_VALUE,
	[COLUMN_BASELINE] = FIELD_ID_BASELINE, [COLUMN_CANDIDATE] = FIELD_ID_CANDIDATE,
	[COLUMN_DELTA] = FIELD_ID_DELTA,       [COLUMN_PERCENT] = FIELD_ID_PERCENT,
	[COLUMN_SHARE] = FIELD_ID_SHARE,       [COLUMN_PROBABILITY] = FIELD_ID_PROBABILITY,
};

static struct error *print_section_rows(const struct document *d,
					const struct report_section *section)
{
	const struct columns columns = columns_of_section(&d->columns, section->id);
	struct table_column headings[COLUMN_COUNT];
	struct table_options options = text_options(d);
	bool any = false;
	struct table table;

	if (!columns.count)
		return NULL;
	for (size_t i = 0; i < columns.count; i++)
		headings[i] = (struct table_column){
			.heading = column_heading(d->report, section->id, columns.ids[i]),
			.type = TABLE_TEXT,
			.right = column_stands_right(section->id, columns.ids[i]),
			/* Columns that the user asked for are never left out. */
			.minor = d->style->columns.count ? 0 : column_infos[columns.ids[i]].minor,
			.whole = columns.ids[i] == COLUMN_METRIC,
			.exact = fields_of_columns[columns.ids[i]] != FIELD_ID_SECTION,
			.field = columns.ids[i],
			.argument = fields_of_columns[columns.ids[i]],
		};
	options.get = get_row_cell;
	table_begin(&table, headings, columns.count, options);
	for (size_t g = 0; g < ROW_GROUP_COUNT; g++) {
		const struct row_group *group = &section->row_groups[g];

		if (group->count && any)
			table_line(&table, "");
		any |= group->count > 0;
		for (size_t i = 0; i < group->count && table_row(&table, &group->items[i]); i++)
			;
		wording_left_out(&table, group->left_out, "row");
	}
	wording_left_out(&table, section->groups_left_out, "group");
	return table_end(&table);
}

static struct error *print_section(const struct document *d, enum section id)
{
	const struct report_section *section = &d->report->sections[id];
	const char *empty = report_section_rows(section) ? NULL : wording_empty(d->report, id);
	struct error *err;

	if (!report_section_rows(section) && !empty)
		return NULL;
	err = d->form->heading(d, section_infos[id].heading);
	if (err)
		return err;
	return empty ? d->form->sentence(d, empty, true) : print_section_rows(d, section);
}

/* Groups that only one side has are listed rather than compared with zero, those with most run time
 * first. */
static struct error *print_unmatched(const struct document *d, bool before)
{
	_cleanup_free_ char *title = wording_unmatched(d->report, before);
	struct error *err = title ? d->form->paragraph(d, title) : NULL;

	if (err || !title)
		return err;
	return unmatched_table_print(d->report, before, text_options(d));
}

static struct error *print_condition_result(const struct document *d,
					    const struct condition_result *result)
{
	_cleanup_free_ char *line = wording_condition_result(result);
	struct error *err = line ? d->form->paragraph(d, line) : &error_no_memory;

	return !err && result->count ? print_section_rows(d, &result->broken) : err;
}

static struct error *print_sections(const struct document *d)
{
	struct error *err = NULL;

	for (enum section i = 0; i < SECTION_COUNT && !err; i++)
		if (report_has_section(d->report, i))
			err = print_section(d, i);
	return err;
}

/* A report of one snapshot for people has one line per group, unless the user asks for metrics,
 * sections or groups. */
static bool is_by_group(const struct document *d)
{
	const struct view *view = d->report->view;

	return view->people && !d->report->comparing && !view->metrics_named &&
	       !view->sections_named && !view->match.count && !view->all_rows &&
	       !d->style->columns.count;
}

static struct error *print_groups(const struct document *d)
{
	struct error *err;

	if (wording_nothing(d->report))
		return NULL;
	err = d->form->heading(d, "Groups");
	if (!err)
		err = group_table_print_all(d->report, text_options(d));
	/* A page also has the tables of all sections. */
	if (!err && d->form->format == TABLE_AS_HTML)
		return print_sections(d);
	return err ? err
		   : d->form->paragraph(d, "all metrics of one group: ctprof show FILE GROUP");
}

/* Print how many rows were left out because they did not change. */
static struct error *print_unchanged(const struct document *d)
{
	_cleanup_free_ char *line = wording_unchanged(d->report);

	return line ? d->form->paragraph(d, line) : NULL;
}

static void print_overview(FILE *out, const struct document *d)
{
	overview_print(out, d->report, d->style,
		       d->form->format == TABLE_AS_TEXT ? d->style->width : 0);
}

static void print_head(FILE *out, const struct document *d)
{
	wording_head(out, d->report);
}

static void print_notes_on_data(FILE *out, const struct document *d)
{
	wording_notes_on_data(out, d->report);
}

static void print_coverage(FILE *out, const struct document *d)
{
	wording_coverage(out, d->report);
}

static struct error *print_tables(const struct document *d)
{
	const char *nothing = wording_nothing(d->report);
	struct error *err = d->form->lines(d, print_head, true);

	if (!err && nothing)
		err = d->form->sentence(d, nothing, false);
	if (!err && is_by_group(d))
		err = print_groups(d);
	else if (!err && !wording_is_all_same(d->report))
		err = print_sections(d);
	if (!err)
		err = print_unchanged(d);
	if (!err)
		err = print_unmatched(d, true);
	if (!err)
		err = print_unmatched(d, false);
	return err ? err : d->form->lines(d, print_coverage, false);
}

struct document document_of(FILE *out, const struct report *report,
			    const struct report_style *style, const struct document_form *form)
{
	return (struct document){
		.out = out,
		.report = report,
		.style = style,
		.form = form,
		.columns = style->columns.count ? style->columns
						: columns_usual(report, style->format),
	};
}

struct error *document_print_overview(const struct document *d)
{
	return d->form->overview(d, print_overview);
}

struct error *document_print_rest(const struct document *d)
{
	const struct report *report = d->report;
	struct error *err;

	/* If nothing changed, print only notes about missing data. */
	if (report->overview && wording_is_all_same(report)) {
		err = d->form->lines(d, print_notes_on_data, true);
		if (!err)
			err = print_unchanged(d);
	} else {
		err = print_tables(d);
	}
	for (size_t i = 0; i < report->results.count && !err; i++)
		err = print_condition_result(d, &report->results.items[i]);
	return err;
}

struct error *document_print(const struct document *d)
{
	struct error *err = document_print_overview(d);

	return err ? err : document_print_rest(d);
}
