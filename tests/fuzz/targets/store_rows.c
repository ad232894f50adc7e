/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "store/rows.h"

/* The columns of a table, in pieces of lengths that the bytes tell. */
struct back {
	const struct store_table *table;
	struct rows rows;
};

static struct error *take(void *context, const union store_value *values)
{
	struct back *back = context;

	return rows_append(&back->rows, back->table->columns, back->table->count, values);
}

/* What was read is written again: the same bytes, unless lengths were longer than need be. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct back back = { 0 };
	struct rows_reader reader;
	struct error *err = NULL;
	size_t piece, at = 2;

	if (size < 2)
		return 0;
	back.table = store_table(data[0] % STORE_TABLE_COUNT);
	piece = data[1] ? data[1] : size;
	must(!rows_reader_init(&reader, back.table->columns, back.table->count, take, &back));
	for (; at < size && !err; at += piece) {
		size_t length = size - at < piece ? size - at : piece;
		char *bytes = malloc(length);

		must(bytes);
		memcpy(bytes, data + at, length);
		err = rows_reader_feed(&reader, (struct text){ bytes, length });
		free(bytes);
	}
	if (!err)
		err = rows_reader_finish(&reader);
	must(back.rows.count <= size - 2);
	if (err)
		fuzz_check_error(err);
	rows_reader_deinit(&reader);
	array_deinit(&back.rows);
	return 0;
}
