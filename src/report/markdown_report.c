/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Markdown (GitHub's tables): the same as text, to be pasted into an issue.
 */
#include <stdlib.h>
#include <string.h>

#include "report/alones_table.h"
#include "report/report.h"
#include "report/table.h"
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
static bool print_list(FILE *out, const struct sheet *sheet, const char *lead,
		       void (*say)(FILE *out, const struct sheet *sheet))
{
	_cleanup_free_ char *lines = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&lines, &length);
	char *rest, *line;

	if (!memory)
		return false;
	say(memory, sheet);
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

static bool print_row(FILE *out, const struct sheet *sheet, const struct row *row,
		      const struct columns *columns)
{
	char cell[CELL_MAX];

	fputc('|', out);
	for (size_t i = 0; i < columns->count; i++)
		if (!print_cell(out, column_text(cell, sheet, row, columns->ids[i])))
			return false;
	fputc('\n', out);
	return true;
}

static void print_headings(FILE *out, const struct sheet *sheet, enum section section,
			   const struct columns *columns)
{
	fputc('|', out);
	for (size_t i = 0; i < columns->count; i++)
		fprintf(out, " %s |", column_heading(sheet, section, columns->ids[i]));
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
static bool print_part(FILE *out, const struct sheet *sheet, const struct part *part,
		       const struct columns *wanted)
{
	struct columns columns = columns_of_section(wanted, part->section);

	for (size_t b = 0; b < BLOCK_COUNT && columns.count; b++) {
		const struct block *block = &part->blocks[b];

		if (!block->count)
			continue;
		fputc('\n', out);
		print_headings(out, sheet, part->section, &columns);
		for (size_t i = 0; i < block->count; i++)
			if (!print_row(out, sheet, &block->items[i], &columns))
				return false;
		print_left_out(out, block->left_out, "row");
	}
	print_left_out(out, part->groups_left_out, "group");
	return true;
}

static bool print_sections(FILE *out, const struct sheet *sheet, const struct columns *columns)
{
	for (enum section i = 0; i < SECTION_COUNT; i++) {
		const char *empty;

		if (!sheet_has_part(sheet, i))
			continue;
		empty = part_rows(&sheet->parts[i]) ? NULL : wording_empty(sheet, i);
		if (part_rows(&sheet->parts[i]) || empty)
			fprintf(out, "\n## %s\n", section_infos[i].heading);
		if (empty)
			fprintf(out, "\n%s\n", empty);
		if (!print_part(out, sheet, &sheet->parts[i], columns))
			return false;
	}
	return true;
}

static bool take_cell(void *context, size_t column, struct text text)
{
	(void)column;
	return print_cell(context, text);
}

static bool print_alones(FILE *out, const struct sheet *sheet, bool before)
{
	_cleanup_free_ char *title = wording_alones(sheet, before);
	struct alones_table table;
	bool done;

	if (!title)
		return true;
	done = alones_table_init(&table, sheet, before);
	fputc('\n', out);
	print_escaped(out, title);
	fputs("\n\n|", out);
	for (size_t i = 0; i < table.columns; i++)
		fprintf(out, " %s |", table.headings[i]);
	fputs("\n|", out);
	for (size_t i = 0; i < table.columns; i++)
		fputs(i ? " ---: |" : " --- |", out);
	for (size_t i = 0; done && i < table.alones->count; i++) {
		fputs("\n|", out);
		done = alones_table_row(&table, i, take_cell, out);
	}
	fputc('\n', out);
	print_left_out(out, table.alones->left_out, "group");
	alones_table_deinit(&table);
	return done;
}

struct error *report_markdown(FILE *out, const struct sheet *sheet,
			      const struct report_style *style)
{
	struct columns columns =
		style->columns.count ? style->columns : columns_usual(sheet, style->format);
	const char *nothing = wording_nothing(sheet);

	if (!print_list(out, sheet, "", wording_head))
		return &error_no_memory;
	if (nothing)
		fprintf(out, "\n%s\n", nothing);
	if (!print_sections(out, sheet, &columns) || !print_alones(out, sheet, true) ||
	    !print_alones(out, sheet, false))
		return &error_no_memory;
	if (!print_list(out, sheet, "\n", wording_coverage))
		return &error_no_memory;
	for (size_t i = 0; i < sheet->findings.count; i++) {
		_cleanup_free_ char *line = wording_finding(&sheet->findings.items[i]);

		if (!line)
			return &error_no_memory;
		fputc('\n', out);
		print_escaped(out, line);
		fputc('\n', out);
		if (!print_part(out, sheet, &sheet->findings.items[i].broken, &columns))
			return &error_no_memory;
	}
	return NULL;
}
