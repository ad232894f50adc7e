/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/rows.h"

#include <inttypes.h>

#include "base/varint.h"

/* How the values of a type are encoded. */
enum shape { SHAPE_NUMBER, SHAPE_TEXT, SHAPE_TEXTS, SHAPE_NUMBERS };

/* By enum store_type: its shape, and the bytes of a number. */
static const struct {
	enum shape shape;
	unsigned bytes;
} forms[STORE_TYPE_COUNT] = {
	[STORE_TIME] = { SHAPE_NUMBER, 4 },  [STORE_TEXT] = { SHAPE_TEXT, 0 },
	[STORE_STRING] = { SHAPE_TEXT, 0 },  [STORE_U8] = { SHAPE_NUMBER, 1 },
	[STORE_U32] = { SHAPE_NUMBER, 4 },   [STORE_U64] = { SHAPE_NUMBER, 8 },
	[STORE_I64] = { SHAPE_NUMBER, 8 },   [STORE_SUM32] = { SHAPE_NUMBER, 4 },
	[STORE_SUM64] = { SHAPE_NUMBER, 8 }, [STORE_TEXTS] = { SHAPE_TEXTS, 0 },
	[STORE_U8S] = { SHAPE_NUMBERS, 1 },  [STORE_U32S] = { SHAPE_NUMBERS, 4 },
};

/* --- writing --- */

static size_t room_for_texts(struct store_texts texts)
{
	size_t room = VARINT_MAX;

	for (size_t i = 0; i < texts.count; i++)
		room += VARINT_MAX + texts.items[i].length;
	return room;
}

/* At most so many bytes. */
static size_t room_for(enum store_type type, const union store_value *value)
{
	switch (forms[type].shape) {
	case SHAPE_TEXT:
		return VARINT_MAX + value->text.length;
	case SHAPE_TEXTS:
		return room_for_texts(value->texts);
	case SHAPE_NUMBERS:
		return VARINT_MAX + value->numbers.count * forms[type].bytes;
	default:
		return forms[type].bytes;
	}
}

static char *put_number(char *at, uint64_t number, unsigned bytes)
{
	if (bytes < sizeof(number) && number >> (8 * bytes))
		number = ((uint64_t)1 << (8 * bytes)) - 1;
	for (unsigned i = 0; i < bytes; i++)
		*at++ = (char)(number >> (8 * i));
	return at;
}

static char *put_text(char *at, struct text text)
{
	at = varint_write(at, text.length);
	if (text.length)
		memcpy(at, text.bytes, text.length);
	return at + text.length;
}

static char *put_value(char *at, enum store_type type, const union store_value *value)
{
	switch (forms[type].shape) {
	case SHAPE_TEXT:
		return put_text(at, value->text);
	case SHAPE_TEXTS:
		at = varint_write(at, value->texts.count);
		for (size_t i = 0; i < value->texts.count; i++)
			at = put_text(at, value->texts.items[i]);
		return at;
	case SHAPE_NUMBERS:
		at = varint_write(at, value->numbers.count);
		for (size_t i = 0; i < value->numbers.count; i++)
			at = put_number(at, value->numbers.items[i], forms[type].bytes);
		return at;
	default:
		return put_number(at, value->number, forms[type].bytes);
	}
}

struct error *rows_append(struct rows *rows, const struct store_column *columns, size_t count,
			  const union store_value *values)
{
	size_t room = 0;
	char *at;

	for (size_t i = 0; i < count; i++)
		room += room_for(columns[i].type, &values[i]);
	if (!array_reserve(rows, room))
		return &error_no_memory;
	at = rows->items + rows->count;
	for (size_t i = 0; i < count; i++)
		at = put_value(at, columns[i].type, &values[i]);
	rows->count = (size_t)(at - rows->items);
	return NULL;
}

/* --- reading --- */

/* What is left of the bytes that have come. */
struct row_cursor {
	const char *at, *end;
	size_t wanted; /* bytes from `at` on without which the row is not complete; 0: it may be */
};

static bool lacks(struct row_cursor *cursor, uint64_t bytes)
{
	if (bytes <= (size_t)(cursor->end - cursor->at))
		return false;
	cursor->wanted = bytes <= ROW_BYTES_MAX ? (size_t)bytes : ROW_BYTES_MAX + 1;
	return true;
}

static bool get_number(struct row_cursor *cursor, unsigned bytes, uint64_t *ret)
{
	uint64_t number = 0;

	if (lacks(cursor, bytes))
		return false;
	for (unsigned i = 0; i < bytes; i++)
		number |= (uint64_t)(unsigned char)cursor->at[i] << (8 * i);
	cursor->at += bytes;
	*ret = number;
	return true;
}

/* A number that does not fit becomes one that no row has room for. */
static bool get_varint(struct row_cursor *cursor, uint64_t *ret)
{
	struct text rest = { cursor->at, (size_t)(cursor->end - cursor->at) };

	if (varint_cut(&rest, VARINT_MAX, ret)) {
		cursor->at = rest.bytes;
		return true;
	}
	*ret = UINT64_MAX;
	return !(rest.length < VARINT_MAX && lacks(cursor, rest.length + 1));
}

static bool get_text(struct row_cursor *cursor, struct text *ret)
{
	uint64_t length;

	if (!get_varint(cursor, &length) || lacks(cursor, length))
		return false;
	*ret = (struct text){ cursor->at, (size_t)length };
	cursor->at += length;
	return true;
}

/* The length of an array whose items have at least so many bytes. */
static bool get_count(struct row_cursor *cursor, unsigned bytes, size_t *ret)
{
	uint64_t count;

	if (!get_varint(cursor, &count) ||
	    lacks(cursor, count > ROW_ARRAY_MAX ? UINT64_MAX : count * bytes))
		return false;
	*ret = (size_t)count;
	return true;
}

/* Arrays move while they grow, so values have no addresses before the row is complete. */
static struct error *get_texts(struct rows_reader *reader, struct row_cursor *cursor,
			       union store_value *value)
{
	struct text text;
	size_t count;

	if (!get_count(cursor, 1, &count))
		return NULL;
	value->texts = (struct store_texts){ .count = count };
	for (size_t i = 0; i < count; i++) {
		if (!get_text(cursor, &text))
			return NULL;
		if (!array_push(&reader->texts, text))
			return &error_no_memory;
	}
	return NULL;
}

static struct error *get_numbers(struct rows_reader *reader, struct row_cursor *cursor,
				 unsigned bytes, union store_value *value)
{
	uint64_t number;
	size_t count;

	if (!get_count(cursor, bytes, &count))
		return NULL;
	value->numbers = (struct store_numbers){ .count = count };
	for (size_t i = 0; i < count && get_number(cursor, bytes, &number); i++)
		if (!array_push(&reader->numbers, (uint32_t)number))
			return &error_no_memory;
	return NULL;
}

static struct error *get_value(struct rows_reader *reader, struct row_cursor *cursor,
			       enum store_type type, union store_value *value)
{
	switch (forms[type].shape) {
	case SHAPE_TEXT:
		get_text(cursor, &value->text);
		return NULL;
	case SHAPE_TEXTS:
		return get_texts(reader, cursor, value);
	case SHAPE_NUMBERS:
		return get_numbers(reader, cursor, forms[type].bytes, value);
	default:
		get_number(cursor, forms[type].bytes, &value->number);
		return NULL;
	}
}

static void place_arrays(struct rows_reader *reader)
{
	const struct text *texts = reader->texts.items;
	const uint32_t *numbers = reader->numbers.items;

	for (size_t i = 0; i < reader->count; i++) {
		union store_value *value = &reader->values.items[i];

		switch (forms[reader->columns[i].type].shape) {
		case SHAPE_TEXTS:
			value->texts.items = texts;
			if (texts)
				texts += value->texts.count;
			break;
		case SHAPE_NUMBERS:
			value->numbers.items = numbers;
			if (numbers)
				numbers += value->numbers.count;
			break;
		default:
			break;
		}
	}
}

/* Read a row, and hand it out if it is complete; otherwise `cursor` says what it lacks. */
static struct error *take_row(struct rows_reader *reader, struct row_cursor *cursor)
{
	struct error *err = NULL;

	reader->texts.count = reader->numbers.count = 0;
	for (size_t i = 0; i < reader->count && !err && !cursor->wanted; i++)
		err = get_value(reader, cursor, reader->columns[i].type, &reader->values.items[i]);
	if (err || cursor->wanted)
		return err;
	place_arrays(reader);
	reader->rows++;
	return reader->take(reader->context, reader->values.items);
}

/* Hand out the rows in `bytes`. Returns how many bytes they had in `used`, and in `needed` how many
 * the next row has at least. */
static struct error *take_rows(struct rows_reader *reader, struct text bytes, size_t *used,
			       size_t *needed)
{
	struct row_cursor cursor = { bytes.bytes, bytes.bytes + bytes.length, 0 };
	const char *row = cursor.at;
	struct error *err;

	*needed = 0;
	while (row != cursor.end) {
		err = take_row(reader, &cursor);
		if (err)
			return err;
		if (cursor.wanted) {
			*needed = (size_t)(cursor.at - row) + cursor.wanted;
			break;
		}
		row = cursor.at;
	}
	*used = (size_t)(row - bytes.bytes);
	if (*needed > ROW_BYTES_MAX)
		return error_create("row %" PRIu64 " of the answer is longer than %zu bytes",
				    reader->rows + 1, ROW_BYTES_MAX);
	return NULL;
}

struct error *rows_reader_init(struct rows_reader *reader, const struct store_column *columns,
			       size_t count, rows_taker *take, void *context)
{
	*reader = (struct rows_reader){
		.columns = columns, .count = count, .take = take, .context = context
	};
	if (!array_reserve(&reader->values, count))
		return &error_no_memory;
	return NULL;
}

static struct error *keep(struct rows_reader *reader, struct text bytes)
{
	if (!bytes.length)
		return NULL;
	if (!array_reserve(&reader->begun, bytes.length))
		return &error_no_memory;
	memcpy(reader->begun.items + reader->begun.count, bytes.bytes, bytes.length);
	reader->begun.count += bytes.length;
	return NULL;
}

struct error *rows_reader_feed(struct rows_reader *reader, struct text piece)
{
	bool is_begun = reader->begun.count > 0;
	struct error *err = is_begun ? keep(reader, piece) : NULL;
	struct text bytes =
		is_begun ? (struct text){ reader->begun.items, reader->begun.count } : piece;
	size_t used = 0, needed = 0;

	if (err || (is_begun && bytes.length < reader->needed))
		return err;
	err = take_rows(reader, bytes, &used, &needed);
	if (err)
		return err;
	/* Look again when there is half as much more, so that many small pieces of a long row do
	 * not take the square of their number. */
	reader->needed = bytes.length - used + (bytes.length - used) / 2;
	if (reader->needed < needed)
		reader->needed = needed;
	if (is_begun)
		array_drop_first(&reader->begun, used);
	else
		err = keep(reader, (struct text){ bytes.bytes + used, bytes.length - used });
	return err;
}

struct error *rows_reader_take(void *reader, struct text piece)
{
	return rows_reader_feed(reader, piece);
}

struct error *rows_reader_finish(struct rows_reader *reader)
{
	size_t used = 0, needed = 0;
	struct error *err;

	if (!reader->begun.count)
		return NULL;
	err = take_rows(reader, (struct text){ reader->begun.items, reader->begun.count }, &used,
			&needed);
	if (err)
		return err;
	array_drop_first(&reader->begun, used);
	if (reader->begun.count)
		return error_create("the answer ends within row %" PRIu64, reader->rows + 1);
	return NULL;
}

void rows_reader_deinit(struct rows_reader *reader)
{
	array_deinit(&reader->begun);
	array_deinit(&reader->values);
	array_deinit(&reader->texts);
	array_deinit(&reader->numbers);
}
