/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/rows.h"

#include <stdlib.h>
#include <string.h>

#include "report/cell.h"
#include "report/table.h"

const char *const report_column_names[REPORT_COLUMN_COUNT] = {
#define COLUMN(id, name, right, show, compare) [REPORT_##id] = name,
	REPORT_COLUMNS(COLUMN)
#undef COLUMN
};

static const struct {
	bool right, show, compare;
} column_infos[REPORT_COLUMN_COUNT] = {
#define COLUMN(id, name, right, show, compare) [REPORT_##id] = { right, show, compare },
	REPORT_COLUMNS(COLUMN)
#undef COLUMN
};

static bool is_usual(enum report_column column, bool comparing)
{
	return comparing ? column_infos[column].compare : column_infos[column].show;
}

bool report_column_fits(enum report_column column, bool comparing)
{
	return column == REPORT_TAGS || is_usual(column, comparing);
}

struct report_columns report_columns_usual(bool comparing)
{
	struct report_columns columns = { 0 };

	for (enum report_column i = 0; i < REPORT_COLUMN_COUNT; i++)
		if (is_usual(i, comparing))
			columns.ids[columns.count++] = i;
	return columns;
}

/* --- the change --- */

static const struct aggregate *value_of(const struct group *group, const struct row *row)
{
	return &group->values[metric_id(row->metric)];
}

static unsigned __int128 magnitude(__int128 value)
{
	return value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
}

/* Quotients differ by fractions: what is below this does not move a row. */
#define FRACTION 1048576.0

static void find_change(struct row *row)
{
	__int128 twice;
	double delta;

	if (!row->baseline)
		return;
	if (row->metric) {
		row->has_delta = delta_x2(row->metric, value_of(row->baseline, row),
					  value_of(row->candidate, row), &twice);
		row->size = row->has_delta ? magnitude(twice) : 0;
	} else {
		row->has_delta = derived_delta(row->derived, row->baseline->values,
					       row->candidate->values, &delta);
		row->size = row->has_delta ? magnitude((__int128)(delta * FRACTION)) : 0;
	}
}

bool rows_add(struct rows *rows, struct row row)
{
	find_change(&row);
	return array_push(rows, row);
}

bool row_is_unchanged(const struct row *row)
{
	char cell[CELL_MAX];

	if (row->has_delta || row->derived)
		return row->size == 0;
	return strcmp(cell_delta(cell, row->metric, value_of(row->baseline, row),
				 value_of(row->candidate, row)),
		      "differs") != 0;
}

static int block_of(const struct row *row)
{
	static const int blocks[] = {
		[UNIT_NS] = 0, [UNIT_TICKS] = 1, [UNIT_BYTES] = 2, [UNIT_COUNT] = 3, [UNIT_NONE] = 4
	};

	return row->has_delta ? blocks[row->metric ? row->metric->unit : row->derived->unit] : 5;
}

static int by_change(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = block_of(x) - block_of(y);

	if (order)
		return order;
	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	order = name_compare(x->candidate->key, y->candidate->key);
	if (order)
		return order;
	return x->metric ? (x->metric > y->metric) - (x->metric < y->metric)
			 : (x->derived > y->derived) - (x->derived < y->derived);
}

void rows_sort_by_change(struct rows *rows)
{
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), by_change);
}

/* --- cells --- */

static const char *write_threads(char cell[CELL_MAX], const struct row *row)
{
	if (row->baseline && row->baseline->threads != row->candidate->threads)
		snprintf(cell, CELL_MAX, "%zu→%zu", row->baseline->threads,
			 row->candidate->threads);
	else
		snprintf(cell, CELL_MAX, "%zu", row->candidate->threads);
	return cell;
}

static const char *write_metric(char cell[CELL_MAX], const struct row *row,
				enum report_column column)
{
	const struct aggregate *after = value_of(row->candidate, row);
	const struct aggregate *before = row->baseline ? value_of(row->baseline, row) : NULL;

	switch (column) {
	case REPORT_METRIC:
		return row->metric->name;
	case REPORT_BASELINE:
		return cell_value(cell, row->metric, before);
	case REPORT_DELTA:
		return cell_delta(cell, row->metric, before, after);
	case REPORT_PERCENT:
		return cell_percent(cell, row->metric, before, after);
	case REPORT_TAGS:
		return metric_tags(cell, row->metric);
	default:
		return cell_value(cell, row->metric, after);
	}
}

static const char *write_derived(char cell[CELL_MAX], const struct row *row,
				 enum report_column column)
{
	const struct aggregate *after = row->candidate->values;
	const struct aggregate *before = row->baseline ? row->baseline->values : NULL;

	switch (column) {
	case REPORT_METRIC:
		return row->derived->name;
	case REPORT_BASELINE:
		return derived_cell_value(cell, row->derived, before);
	case REPORT_DELTA:
		return derived_cell_delta(cell, row->derived, before, after);
	case REPORT_PERCENT:
		return derived_cell_percent(cell, row->derived, before, after);
	case REPORT_TAGS:
		return "";
	default:
		return derived_cell_value(cell, row->derived, after);
	}
}

static bool add_cell(struct table *table, const struct row *row, enum report_column column)
{
	char cell[CELL_MAX];

	if (column == REPORT_GROUP)
		return table_add(table, name_text(row->candidate->key));
	if (column == REPORT_THREADS)
		return table_add(table, text_of(write_threads(cell, row)));
	return table_add(table, text_of(row->metric ? write_metric(cell, row, column)
						    : write_derived(cell, row, column)));
}

struct error *rows_print(FILE *out, const struct rows *rows, const struct report_columns *columns,
			 const char *group_heading, size_t limit, bool colour)
{
	size_t shown = limit && limit < rows->count ? limit : rows->count;
	struct table_column headings[REPORT_COLUMN_COUNT] = { 0 };
	struct table table;
	bool done = true;

	for (size_t i = 0; i < columns->count; i++) {
		enum report_column id = columns->ids[i];

		headings[i] = (struct table_column){
			.heading = id == REPORT_GROUP ? group_heading : report_column_names[id],
			.right = column_infos[id].right,
		};
	}
	table_init(&table, headings, columns->count);
	for (size_t i = 0; i < shown && done; i++)
		for (size_t c = 0; c < columns->count && done; c++)
			done = add_cell(&table, &rows->items[i], columns->ids[c]);
	if (done)
		table_print(&table, out, colour);
	if (shown < rows->count)
		fprintf(out, "... %zu more rows (--limit 0 shows all)\n", rows->count - shown);
	table_deinit(&table);
	return done ? NULL : &error_no_memory;
}
