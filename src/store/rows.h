/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows in ClickHouse's format RowBinary: the values of all columns of a row, one after the other,
 * without names, types or separators (src/Processors/Formats/Impl/BinaryRowInputFormat.cpp).
 * Numbers are little-endian, DateTime is UInt32, texts and arrays follow their length as a varint.
 * LowCardinality(T) is as T.
 *
 *	union store_value row[SAMPLES_COUNT] = { 0 };
 *	row[SAMPLES_host].text = host;
 *	err = rows_append(&rows, table->columns, table->count, row);
 *
 * A reader takes the answer of a query in pieces of any length:
 *
 *	rows_reader_init(&reader, columns, count, take, context);
 *	err = rows_reader_feed(&reader, piece);          for each piece
 *	err = rows_reader_finish(&reader);
 *	rows_reader_deinit(&reader);
 *
 * A server that fails within an answer may end it by the text of an exception, which looks like the
 * next row. So queries have the setting wait_end_of_query=1, with which it answers by a status.
 */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "store/tables.h"

struct store_texts {
	const struct text *items;
	size_t count;
};

struct store_numbers {
	const uint32_t *items;
	size_t count;
};

/* By the type of its column; all zero is 0, "" or an empty array. */
union store_value {
	uint64_t number; /* TIME and all numbers; of I64 the two's complement */
	struct text text;
	struct store_texts texts;
	struct store_numbers numbers; /* of U8S, too */
};

/* Encoded rows. All zero is empty. */
struct rows {
	ARRAY(char);
};

/* A number that does not fit into its column becomes the largest one that does. Texts may have any
 * bytes. Without memory, the rows are unchanged. */
struct error *rows_append(struct rows *rows, const struct store_column *columns, size_t count,
			  const union store_value *values) MUST_CHECK;

/* Called with each row, which is valid until it returns. Its error ends the reading. */
typedef struct error *rows_taker(void *context, const union store_value *values);

/* The longest row that is read, in bytes, and the longest array. */
#define ROW_BYTES_MAX ((size_t)16 << 20)
#define ROW_ARRAY_MAX ((size_t)1 << 20)

struct rows_reader {
	const struct store_column *columns; /* only the types count */
	size_t count;
	rows_taker *take;
	void *context;
	uint64_t rows; /* that were taken */
	struct {
		ARRAY(char);
	} begun;       /* of a row whose end has not come */
	size_t needed; /* do not parse `begun` again before it has so many bytes */
	struct {
		ARRAY(union store_value);
	} values;
	struct {
		ARRAY(struct text);
	} texts;
	struct {
		ARRAY(uint32_t);
	} numbers;
};

/* `columns` lives as long as the reader. */
struct error *rows_reader_init(struct rows_reader *reader, const struct store_column *columns,
			       size_t count, rows_taker *take, void *context) MUST_CHECK;
/* Hands out all rows that are complete. Memory is bounded by the longest row. */
struct error *rows_reader_feed(struct rows_reader *reader, struct text piece) MUST_CHECK;
/* The same, for a reader as the context of http_request.take. */
struct error *rows_reader_take(void *reader, struct text piece) MUST_CHECK;
/* An error if the answer ended within a row. */
struct error *rows_reader_finish(struct rows_reader *reader) MUST_CHECK;
void rows_reader_deinit(struct rows_reader *reader);

#endif
