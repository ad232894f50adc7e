/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Markdown (GitHub's tables): the same as text, to be pasted into an issue.
 */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/table.h"
#include "report/unmatched_table.h"
#include "report/wording.h"

/* Whatever a text has in it, it stays a text. */
static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<') {
			fputs("&lt;", out);
		} else if (*text == '&') {
			fputs("&amp;", out);
		} else {
			if (strchr("\\`*_|[]~", *text))
				fputc('\\', out);
			fputc(*text, out);
		}
	}
}

static bool print_cell(FILE *out, struct text text)
{
	_cleanup_free_ char *visible = text_visible(text);

	if (!visible)
		return false;
	fputc(' ', out);
	print_escaped(out, visible);
	fputs(" |", out);
	return true;
}

/* What `say` says, as a list, with `lead` before it. */
static bool print_list(FILE *out, const struct report *report, const char *lead,
		       void (*say)(FILE *out, const struct report *report))
{
	_cleanup_free_ char *lines = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&lines, &length);
	char *rest, *line;

	if (!memory)
		return false;
	say(memory, report);
	if (fclose(memory))
		return false;
	if (length)
		fputs(lead, out);
	for (rest = lines; (line = strsep(&rest, "\n"));) {
		if (!*line)
			continue;
		fputs("- ", out);
		print_escaped(out, line);
		fputc('\n', out);
	}
	return true;
}

static bool print_row(FILE *out, const struct report *report, const struct row *row,
		      const struct columns *columns)
{
	char cell[CELL_MAX];

	fputc('|', out);
	for (size_t i = 0; i < columns->count; i++)
		if (!print_cell(out, column_text(cell, report, row, columns->ids[i])))
			return false;
	fputc('\n', out);
	return true;
}

static void print_headings(FILE *out, const struct report *report, enum section section,
			   const struct columns *columns)
{
	fputc('|', out);
	for (size_t i = 0; i < columns->count; i++)
		fprintf(out, " %s |", column_heading(report, section, columns->ids[i]));
	fputs("\n|", out);
	for (size_t i = 0; i < columns->count; i++)
		fputs(column_stands_right(section, columns->ids[i]) ? " ---: |" : " --- |", out);
	fputc('\n', out);
}

static void print_left_out(FILE *out, size_t count, const char *what)
{
	_cleanup_free_ char *line = count ? wording_left_out(count, what) : NULL;

	if (line)
		fprintf(out, "\n%s\n", line);
}

/* A table for each block, since a line cannot stand between rows. */
static bool print_section(FILE *out, const struct report *report,
			  const struct report_section *section, const struct columns *wanted)
{
	struct columns columns = columns_of_section(wanted, section->id);

	for (size_t b = 0; b < ROW_GROUP_COUNT && columns.count; b++) {
		const struct row_group *group = &section->row_groups[b];

		if (!group->count)
			continue;
		fputc('\n', out);
		print_headings(out, report, section->id, &columns);
		for (size_t i = 0; i < group->count; i++)
			if (!print_row(out, report, &group->items[i], &columns))
				return false;
		print_left_out(out, group->left_out, "row");
	}
	print_left_out(out, section->groups_left_out, "group");
	return true;
}

static bool print_sections(FILE *out, const struct report *report, const struct columns *columns)
{
	for (enum section i = 0; i < SECTION_COUNT; i++) {
		const char *empty;

		if (!report_has_section(report, i))
			continue;
		empty = report_section_rows(&report->sections[i]) ? NULL : wording_empty(report, i);
		if (report_section_rows(&report->sections[i]) || empty)
			fprintf(out, "\n## %s\n", section_infos[i].heading);
		if (empty)
			fprintf(out, "\n%s\n", empty);
		if (!print_section(out, report, &report->sections[i], columns))
			return false;
	}
	return true;
}

static bool take_cell(void *context, size_t column, struct text text)
{
	(void)column;
	return print_cell(context, text);
}

static bool print_unmatched(FILE *out, const struct report *report, bool before)
{
	_cleanup_free_ char *title = wording_unmatched(report, before);
	struct unmatched_table table;
	bool done;

	if (!title)
		return true;
	done = unmatched_table_init(&table, report, before);
	fputc('\n', out);
	print_escaped(out, title);
	fputs("\n\n|", out);
	for (size_t i = 0; i < table.columns; i++)
		fprintf(out, " %s |", table.headings[i]);
	fputs("\n|", out);
	for (size_t i = 0; i < table.columns; i++)
		fputs(i ? " ---: |" : " --- |", out);
	for (size_t i = 0; done && i < table.unmatched->count; i++) {
		fputs("\n|", out);
		done = unmatched_table_row(&table, i, take_cell, out);
	}
	fputc('\n', out);
	print_left_out(out, table.unmatched->left_out, "group");
	unmatched_table_deinit(&table);
	return done;
}

struct error *report_markdown(FILE *out, const struct report *report,
			      const struct report_style *style)
{
	struct columns columns =
		style->columns.count ? style->columns : columns_usual(report, style->format);
	const char *nothing = wording_nothing(report);

	if (!print_list(out, report, "", wording_head))
		return &error_no_memory;
	if (nothing)
		fprintf(out, "\n%s\n", nothing);
	if (!print_sections(out, report, &columns) || !print_unmatched(out, report, true) ||
	    !print_unmatched(out, report, false))
		return &error_no_memory;
	if (!print_list(out, report, "\n", wording_coverage))
		return &error_no_memory;
	for (size_t i = 0; i < report->results.count; i++) {
		_cleanup_free_ char *line = wording_condition_result(&report->results.items[i]);

		if (!line)
			return &error_no_memory;
		fputc('\n', out);
		print_escaped(out, line);
		fputc('\n', out);
		if (!print_section(out, report, &report->results.items[i].broken, &columns))
			return &error_no_memory;
	}
	return NULL;
}
