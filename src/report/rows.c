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

/* --- the values of a row --- */

/* Both sides of a row of a metric, or of a derived one. */
struct sides {
	struct aggregate before, after;
	struct derived_value derived_before, derived_after;
	const struct derived_value *has_before, *has_after; /* NULL: there is none */
};

static void sides_deinit(struct sides *sides, const struct row *row)
{
	if (!row->metric)
		return;
	aggregate_deinit(&sides->before, row->metric);
	aggregate_deinit(&sides->after, row->metric);
}

static bool sides_init(struct sides *sides, const struct row *row)
{
	*sides = (struct sides){ 0 };
	if (row->derived) {
		if (row->baseline &&
		    group_derived(row->baseline, row->derived, &sides->derived_before))
			sides->has_before = &sides->derived_before;
		if (group_derived(row->candidate, row->derived, &sides->derived_after))
			sides->has_after = &sides->derived_after;
		return true;
	}
	if (group_aggregate(row->candidate, row->metric, &sides->after) &&
	    (!row->baseline || group_aggregate(row->baseline, row->metric, &sides->before)))
		return true;
	sides_deinit(sides, row);
	return false;
}

/* --- the change --- */

static unsigned __int128 magnitude(__int128 value)
{
	return value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
}

/* Quotients differ by fractions: what is below this does not move a row. */
#define FRACTION 1048576.0

static void change_of_derived(struct row *row, const struct sides *sides)
{
	double delta;

	row->has_delta = derived_delta(sides->has_before, sides->has_after, &delta);
	if (row->has_delta)
		row->size = magnitude((__int128)(delta * FRACTION));
	else if (sides->has_before && sides->has_after)
		row->differs = sides->derived_before.value != sides->derived_after.value;
	else
		row->differs = sides->has_before || sides->has_after;
}

static void change_of_metric(struct row *row, const struct sides *sides)
{
	__int128 twice;

	row->has_delta = delta_x2(row->metric, &sides->before, &sides->after, &twice);
	if (row->has_delta)
		row->size = magnitude(twice);
	row->differs = !aggregate_equal(&sides->before, &sides->after, row->metric);
}

bool row_find_change(struct row *row)
{
	struct sides sides;

	if (!sides_init(&sides, row))
		return false;
	if (row->metric)
		change_of_metric(row, &sides);
	else
		change_of_derived(row, &sides);
	sides_deinit(&sides, row);
	return true;
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
	if (!x->metric != !y->metric)
		return x->metric ? -1 : 1;
	return x->metric ? (x->metric > y->metric) - (x->metric < y->metric)
			 : (x->derived > y->derived) - (x->derived < y->derived);
}

void rows_sort_by_change(struct rows *rows)
{
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), by_change);
	if (rows->limit && rows->count > rows->limit) {
		rows->left_out += rows->count - rows->limit;
		rows->count = rows->limit;
	}
}

bool rows_add(struct rows *rows, struct row row)
{
	if (!rows->limit || rows->count < rows->limit)
		return array_push(rows, row);
	rows->left_out++;
	return true;
}

bool rows_add_by_change(struct rows *rows, struct row row)
{
	/* Now and then, so that each row costs little more than the sorting of its share. */
	if (rows->limit && rows->count >= 4096 && rows->count / 4 >= rows->limit)
		rows_sort_by_change(rows);
	return array_push(rows, row);
}

/* --- cells --- */

static const char *write_threads(char cell[CELL_MAX], const struct row *row)
{
	if (row->baseline && row->baseline->count != row->candidate->count)
		snprintf(cell, CELL_MAX, "%zu→%zu", row->baseline->count, row->candidate->count);
	else
		snprintf(cell, CELL_MAX, "%zu", row->candidate->count);
	return cell;
}

static const char *write_metric(char cell[CELL_MAX], const struct metric *metric,
				const struct sides *sides, enum report_column column)
{
	switch (column) {
	case REPORT_METRIC:
		return metric->name;
	case REPORT_BASELINE:
		return cell_value(cell, metric, &sides->before);
	case REPORT_DELTA:
		return cell_delta(cell, metric, &sides->before, &sides->after);
	case REPORT_PERCENT:
		return cell_percent(cell, metric, &sides->before, &sides->after);
	case REPORT_TAGS:
		return metric_tags(cell, metric);
	default:
		return cell_value(cell, metric, &sides->after);
	}
}

static const char *write_derived(char cell[CELL_MAX], const struct derived *derived,
				 const struct sides *sides, enum report_column column)
{
	switch (column) {
	case REPORT_METRIC:
		return derived->name;
	case REPORT_BASELINE:
		return derived_cell_value(cell, derived, sides->has_before);
	case REPORT_DELTA:
		return derived_cell_delta(cell, derived, sides->has_before, sides->has_after);
	case REPORT_PERCENT:
		return derived_cell_percent(cell, derived, sides->has_before, sides->has_after);
	case REPORT_TAGS:
		return "";
	default:
		return derived_cell_value(cell, derived, sides->has_after);
	}
}

static bool add_cell(struct table *table, const struct row *row, const struct sides *sides,
		     enum report_column column)
{
	char cell[CELL_MAX];

	if (column == REPORT_GROUP)
		return table_add(table, name_text(row->candidate->key));
	if (column == REPORT_THREADS)
		return table_add(table, text_of(write_threads(cell, row)));
	return table_add(table,
			 text_of(row->metric ? write_metric(cell, row->metric, sides, column)
					     : write_derived(cell, row->derived, sides, column)));
}

static bool add_row(struct table *table, const struct row *row,
		    const struct report_columns *columns)
{
	struct sides sides;
	bool done = sides_init(&sides, row);

	if (!done)
		return false;
	for (size_t c = 0; c < columns->count && done; c++)
		done = add_cell(table, row, &sides, columns->ids[c]);
	sides_deinit(&sides, row);
	return done;
}

struct error *rows_print(FILE *out, const struct rows *rows, const struct report_columns *columns,
			 const char *group_heading, bool colour)
{
	struct table_column headings[REPORT_COLUMN_COUNT] = { 0 };
	struct table table;
	struct error *err;
	bool done = true;

	for (size_t i = 0; i < columns->count; i++) {
		enum report_column id = columns->ids[i];

		headings[i] = (struct table_column){
			.heading = id == REPORT_GROUP ? group_heading : report_column_names[id],
			.right = column_infos[id].right,
		};
	}
	table_init(&table, headings, columns->count);
	for (size_t i = 0; i < rows->count && done; i++)
		done = add_row(&table, &rows->items[i], columns);
	err = done ? table_print(&table, out, colour) : &error_no_memory;
	if (rows->left_out)
		fprintf(out, "... %zu more rows (--limit 0 shows all)\n", rows->left_out);
	table_deinit(&table);
	return err;
}
