/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports as documents for people, as text and as Markdown: tables under headings, and around them
 * what must be known beside the numbers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/fields.h"
#include "report/group_table.h"
#include "report/overview_report.h"
#include "report/report.h"
#include "report/table_printer.h"
#include "report/unmatched_table.h"
#include "report/wording.h"

const struct report_format_info report_formats[REPORT_FORMAT_COUNT] = {
#define REPORT(id, name, ...) [REPORT_##id] = { name, __VA_ARGS__ },
	REPORT_FORMATS(REPORT)
#undef REPORT
};

struct document {
	FILE *out;
	const struct report *report;
	const struct report_style *style;
	enum table_format format;
	struct columns columns;
};

static bool is_markdown(const struct document *d)
{
	return d->format == TABLE_AS_MARKDOWN;
}

static struct table_options text_options(const struct document *d)
{
	return (struct table_options){ .format = d->format,
				       .out = d->out,
				       .context = d,
				       .width = d->style->width,
				       .wrap = d->style->wrap,
				       .colour = d->style->colour };
}

/* --- what is around tables --- */

/* A paragraph that may hold names. */
static void print_paragraph(const struct document *d, const char *text)
{
	fputc('\n', d->out);
	if (is_markdown(d))
		table_markdown_text(d->out, text);
	else
		fputs(text, d->out);
	fputc('\n', d->out);
}

static void print_document_heading(const struct document *d, const char *heading)
{
	fprintf(d->out,
		d->style->colour && !is_markdown(d) ? "\n\033[1m## %s\033[0m\n" : "\n## %s\n",
		heading);
}

/* The lines that `say` prints: in Markdown a list, with `lead` before it. */
static bool print_lines(const struct document *d, const char *lead,
			void (*say)(FILE *out, const struct document *d))
{
	_cleanup_free_ char *lines = NULL;
	size_t length = 0;
	FILE *memory;
	char *rest, *line;

	if (!is_markdown(d)) {
		say(d->out, d);
		return true;
	}
	memory = open_memstream(&lines, &length);
	if (!memory)
		return false;
	say(memory, d);
	if (!file_close_memory(memory, &lines))
		return false;
	if (length)
		fputs(lead, d->out);
	for (rest = lines; (line = strsep(&rest, "\n"));) {
		if (!*line)
			continue;
		fputs("- ", d->out);
		table_markdown_text(d->out, line);
		fputc('\n', d->out);
	}
	return true;
}

/* --- rows --- */

/* A change of more than half stands out. */
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
	ret->colour = colour_of(row, column->field);
	ret->bold = column->field == COLUMN_PERCENT && row->change.has_share &&
		    fabs(row->change.share) > LARGE_SHARE;
}

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
			/* What was asked for is not left out. */
			.minor = d->style->columns.count ? 0 : column_infos[columns.ids[i]].minor,
			.whole = columns.ids[i] == COLUMN_METRIC,
			.field = columns.ids[i],
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

	if (!report_section_rows(section) && !empty)
		return NULL;
	print_document_heading(d, section_infos[id].heading);
	if (empty) {
		fprintf(d->out, is_markdown(d) ? "\n%s\n" : " %s\n", empty);
		return NULL;
	}
	return print_section_rows(d, section);
}

/* Absent is not zero: groups of one side are listed, not compared; those that ran longest first. */
static struct error *print_unmatched(const struct document *d, bool before)
{
	_cleanup_free_ char *title = wording_unmatched(d->report, before);

	if (!title)
		return NULL;
	print_paragraph(d, title);
	return unmatched_table_print(d->report, before, text_options(d));
}

static struct error *print_condition_result(const struct document *d,
					    const struct condition_result *result)
{
	_cleanup_free_ char *line = wording_condition_result(result);

	if (!line)
		return &error_no_memory;
	print_paragraph(d, line);
	return result->count ? print_section_rows(d, &result->broken) : NULL;
}

static struct error *print_sections(const struct document *d)
{
	struct error *err = NULL;

	for (enum section i = 0; i < SECTION_COUNT && !err; i++)
		if (report_has_section(d->report, i))
			err = print_section(d, i);
	return err;
}

/* Of one snapshot, people see a line for each group, unless they ask for metrics, for sections or
 * for a group. */
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
	print_document_heading(d, "Groups");
	err = group_table_print_all(d->report, text_options(d));
	if (!err)
		print_paragraph(d, "all metrics of one group: ctprof show FILE GROUP");
	return err;
}

/* What people are not shown because it did not change. */
static struct error *print_unchanged(const struct document *d)
{
	_cleanup_free_ char *line = wording_unchanged(d->report);

	if (line)
		print_paragraph(d, line);
	return NULL;
}

static void print_overview(FILE *out, const struct document *d)
{
	overview_print(out, d->report, d->style, is_markdown(d) ? 0 : d->style->width);
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
	struct error *err = NULL;

	if (!print_lines(d, "", print_head))
		return &error_no_memory;
	if (nothing)
		fprintf(d->out, is_markdown(d) ? "\n%s\n" : "%s\n", nothing);
	if (is_by_group(d))
		err = print_groups(d);
	else if (!wording_is_all_same(d->report))
		err = print_sections(d);
	if (!err)
		err = print_unchanged(d);
	if (!err)
		err = print_unmatched(d, true);
	if (!err)
		err = print_unmatched(d, false);
	if (!err && !print_lines(d, "\n", print_coverage))
		err = &error_no_memory;
	return err;
}

static struct error *print_document(const struct document *d)
{
	const struct report *report = d->report;
	struct error *err = NULL;

	if (!print_lines(d, "", print_overview))
		return &error_no_memory;
	/* Then there is nothing more to say, but what is missing. */
	if (report->overview && wording_is_all_same(report))
		err = print_lines(d, "", print_notes_on_data) ? print_unchanged(d)
							      : &error_no_memory;
	else
		err = print_tables(d);
	for (size_t i = 0; i < report->results.count && !err; i++)
		err = print_condition_result(d, &report->results.items[i]);
	return err;
}

static struct error *print_as(FILE *out, const struct report *report,
			      const struct report_style *style, enum table_format format)
{
	const struct document d = {
		.out = out,
		.report = report,
		.style = style,
		.format = format,
		.columns = style->columns.count ? style->columns
						: columns_usual(report, style->format),
	};

	return print_document(&d);
}

struct error *report_text(FILE *out, const struct report *report, const struct report_style *style)
{
	return print_as(out, report, style, TABLE_AS_TEXT);
}

struct error *report_markdown(FILE *out, const struct report *report,
			      const struct report_style *style)
{
	return print_as(out, report, style, TABLE_AS_MARKDOWN);
}

struct error *report_csv(FILE *out, const struct report *report, const struct report_style *style)
{
	(void)style;
	return fields_print(report, NULL,
			    (struct table_options){ .format = TABLE_AS_CSV, .out = out });
}
