/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/alones_table.h"
#include "report/report.h"
#include "report/table.h"
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

static bool add_row(struct table *table, const struct sheet *sheet, const struct row *row,
		    const struct columns *columns)
{
	char cell[CELL_MAX];

	for (size_t i = 0; i < columns->count; i++) {
		enum column id = columns->ids[i];

		if (!table_add(table, column_text(cell, sheet, row, id), colour_of(row, id)))
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
static bool add_rows(struct table *table, const struct sheet *sheet, const struct part *part,
		     const struct columns *columns)
{
	for (size_t b = 0; b < BLOCK_COUNT; b++) {
		const struct block *block = &part->blocks[b];

		if (block->count && table->cells.count && !table_add_line(table, ""))
			return false;
		for (size_t i = 0; i < block->count; i++)
			if (!add_row(table, sheet, &block->items[i], columns))
				return false;
		if (!add_left_out(table, block->left_out, "row"))
			return false;
	}
	return add_left_out(table, part->groups_left_out, "group");
}

static void print_heading(FILE *out, const struct report_style *style, const char *heading)
{
	fprintf(out, style->colour ? "\n\033[1m## %s\033[0m\n" : "\n## %s\n", heading);
}

static struct error *print_rows(FILE *out, const struct sheet *sheet, const struct part *part,
				const struct columns *wanted, const struct report_style *style)
{
	struct columns columns = columns_of_section(wanted, part->section);
	struct table_column headings[COLUMN_COUNT];
	struct table table;
	struct error *err;

	if (!columns.count)
		return NULL;
	for (size_t i = 0; i < columns.count; i++)
		headings[i] = (struct table_column){
			.heading = column_heading(sheet, part->section, columns.ids[i]),
			.right = column_stands_right(part->section, columns.ids[i]),
		};
	table_init(&table, headings, columns.count);
	err = add_rows(&table, sheet, part, &columns)
		      ? table_print(&table, out, style->width, style->colour)
		      : &error_no_memory;
	table_deinit(&table);
	return err;
}

static struct error *print_part(FILE *out, const struct sheet *sheet, enum section section,
				const struct columns *columns, const struct report_style *style)
{
	const struct part *part = &sheet->parts[section];
	const char *empty;

	if (part_rows(part)) {
		print_heading(out, style, section_infos[section].heading);
		return print_rows(out, sheet, part, columns, style);
	}
	empty = wording_empty(sheet, section);
	if (!empty)
		return NULL;
	print_heading(out, style, section_infos[section].heading);
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
static struct error *print_alones(FILE *out, const struct sheet *sheet, bool before,
				  const struct report_style *style)
{
	_cleanup_free_ char *title = wording_alones(sheet, before);
	struct table_column headings[ALONES_COLUMNS_MAX];
	struct alones_table alones;
	struct table table;
	struct error *err;
	bool done;

	if (!title)
		return NULL;
	fprintf(out, "\n%s\n", title);
	done = alones_table_init(&alones, sheet, before);
	for (size_t i = 0; i < alones.columns; i++)
		headings[i] = (struct table_column){ alones.headings[i], i > 0 };
	table_init(&table, headings, alones.columns);
	for (size_t i = 0; done && i < alones.alones->count; i++)
		done = alones_table_row(&alones, i, take_cell, &table);
	done = done && add_left_out(&table, alones.alones->left_out, "group");
	err = done ? table_print(&table, out, style->width, style->colour) : &error_no_memory;
	table_deinit(&table);
	alones_table_deinit(&alones);
	return err;
}

static struct error *print_finding(FILE *out, const struct sheet *sheet,
				   const struct finding *finding, const struct columns *columns,
				   const struct report_style *style)
{
	_cleanup_free_ char *line = wording_finding(finding);

	if (!line)
		return &error_no_memory;
	fprintf(out, "\n%s\n", line);
	return finding->count ? print_rows(out, sheet, &finding->broken, columns, style) : NULL;
}

struct error *report_text(FILE *out, const struct sheet *sheet, const struct report_style *style)
{
	struct columns columns =
		style->columns.count ? style->columns : columns_usual(sheet, style->format);
	const char *nothing = wording_nothing(sheet);
	struct error *err = NULL;

	wording_head(out, sheet);
	if (nothing)
		fprintf(out, "%s\n", nothing);
	for (enum section i = 0; i < SECTION_COUNT && !err; i++)
		if (sheet_has_part(sheet, i))
			err = print_part(out, sheet, i, &columns, style);
	if (!err)
		err = print_alones(out, sheet, true, style);
	if (!err)
		err = print_alones(out, sheet, false, style);
	if (!err)
		wording_coverage(out, sheet);
	for (size_t i = 0; i < sheet->findings.count && !err; i++)
		err = print_finding(out, sheet, &sheet->findings.items[i], &columns, style);
	return err;
}
