/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables as JSON: an object for each row, on a line of its own. They are in an array, or, as JSON
 * lines, a document each.
 */
#include "report/stream.h"
#include "report/table_printer.h"

static void write_row(struct json_writer *w, const struct table_member *members, size_t count);

static void write_table_value(struct json_writer *w, const struct table_value *value)
{
	switch (value->type) {
	case TABLE_UNKNOWN:
		json_null(w);
		return;
	case TABLE_TEXT:
		json_text(w, value->text);
		return;
	case TABLE_COUNT:
	case TABLE_NS:
	case TABLE_BYTES:
		json_u64(w, value->count);
		return;
	case TABLE_SIGNED:
		json_i64(w, value->integer);
		return;
	case TABLE_PERCENT:
	case TABLE_REAL:
		json_real(w, value->real);
		return;
	case TABLE_DIGITS:
		json_digits(w, value->text.bytes);
		return;
	case TABLE_BOOL:
		json_bool(w, value->flag);
		return;
	case TABLE_RANGE:
		write_row(w,
			  (const struct table_member[]){
				  { "min", { TABLE_SIGNED, .integer = value->range.least } },
				  { "max", { TABLE_SIGNED, .integer = value->range.most } },
			  },
			  2);
		return;
	case TABLE_CPUS:
		write_row(w,
			  (const struct table_member[]){
				  { "cpus",
				    { value->cpus.list.bytes ? TABLE_TEXT : TABLE_UNKNOWN,
				      .text = value->cpus.list } },
				  { "min", { TABLE_COUNT, .count = value->cpus.fewest } },
				  { "max", { TABLE_COUNT, .count = value->cpus.most } },
			  },
			  3);
		return;
	case TABLE_OBJECT: /* a member is none */
		return;
	}
}

static void write_row(struct json_writer *w, const struct table_member *members, size_t count)
{
	json_object_begin(w);
	for (size_t i = 0; i < count; i++) {
		json_key(w, members[i].name);
		write_table_value(w, &members[i].value);
	}
	json_object_end(w);
}

static bool own_begin(struct table *table)
{
	table->error = json_writer_init(&table->own_json, stream_to_file, table->options.out);
	table->options.json = &table->own_json;
	return !table->error;
}

static bool array_begin(struct table *table)
{
	if (table->options.json)
		return true;
	if (!own_begin(table))
		return false;
	json_array_begin(&table->own_json);
	return true;
}

static bool object_begin(struct table *table)
{
	json_object_begin(table->options.json);
	return true;
}

static bool line_begin(struct table *table)
{
	json_line(table->options.json);
	return object_begin(table);
}

static bool member(struct table *table, size_t column, const struct table_cell *cell)
{
	const struct table_column *c = &table->columns[column];

	if (c->rare && cell->value.type == TABLE_UNKNOWN)
		return true;
	json_key(table->options.json, table_name(c));
	if (cell->value.type == TABLE_OBJECT)
		write_row(table->options.json, cell->members, cell->member_count);
	else
		write_table_value(table->options.json, &cell->value);
	return true;
}

static bool object_end(struct table *table)
{
	json_object_end(table->options.json);
	return true;
}

static bool document_end(struct table *table)
{
	object_end(table);
	json_document_end(table->options.json);
	return true;
}

static bool own_end(struct table *table)
{
	table->error = json_writer_finish(&table->own_json);
	return !table->error;
}

static bool array_end(struct table *table)
{
	if (table->options.json != &table->own_json)
		return true;
	json_array_end(&table->own_json);
	json_document_end(&table->own_json);
	return own_end(table);
}

static void own_clear(struct table *table)
{
	json_writer_deinit(&table->own_json);
}

const struct table_printer table_json_printer = {
	.begin = array_begin,
	.row_begin = line_begin,
	.cell = member,
	.row_end = object_end,
	.end = array_end,
	.clear = own_clear,
};

const struct table_printer table_json_lines_printer = {
	.begin = own_begin,
	.row_begin = object_begin,
	.cell = member,
	.row_end = document_end,
	.end = own_end,
	.clear = own_clear,
};
