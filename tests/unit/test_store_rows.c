/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/rows.h"

#include "unit/unit.h"

static const struct store_column every_type[] = {
	{ "t", STORE_TIME },      { "name", STORE_TEXT },   { "text", STORE_STRING },
	{ "u8", STORE_U8 },       { "u32", STORE_U32 },     { "u64", STORE_U64 },
	{ "i64", STORE_I64 },     { "count", STORE_SUM32 }, { "ns", STORE_SUM64 },
	{ "texts", STORE_TEXTS }, { "kinds", STORE_U8S },   { "lines", STORE_U32S },
};
enum { T, NAME, STRING, U8, U32, U64, I64, COUNT, NS, ARRAY_OF_TEXTS, KINDS, LINES, VALUES };

static const struct text some_texts[] = { { "main", 4 }, { "", 0 }, { "a\0b\xff'\\\"", 7 } };
static const uint32_t some_numbers[] = { 1, 200, 255 };

static const union store_value some_row[VALUES] = {
	[T] = { 1700000000 },
	[NAME] = { .text = { "postgres", 8 } },
	[STRING] = { .text = { "\0\xc3('", 4 } },
	[U8] = { 7 },
	[U32] = { UINT32_MAX },
	[U64] = { UINT64_MAX },
	[I64] = { (uint64_t)-20 },
	[COUNT] = { 3 },
	[NS] = { (uint64_t)1 << 40 },
	[ARRAY_OF_TEXTS] = { .texts = { some_texts, 3 } },
	[KINDS] = { .numbers = { some_numbers, 3 } },
	[LINES] = { .numbers = { some_numbers, 3 } },
};

/* --- a taker that encodes what it gets --- */

struct copy {
	struct rows rows;
	size_t most; /* its error after so many rows */
};

static struct error *copy_row(void *context, const union store_value *values)
{
	struct copy *copy = context;

	if (!copy->most--)
		return error_create("enough");
	return rows_append(&copy->rows, every_type, VALUES, values);
}

/* Feed bytes in pieces of this length. */
static struct error *feed(struct rows_reader *reader, struct text bytes, size_t piece)
{
	struct error *err = NULL;

	for (size_t at = 0; at < bytes.length && !err; at += piece) {
		struct text part = guarded(bytes.bytes + at,
					   bytes.length - at < piece ? bytes.length - at : piece);

		err = rows_reader_feed(reader, part);
		unguard(part);
	}
	return err ? err : rows_reader_finish(reader);
}

static void encode(struct rows *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect_ok(rows_append(rows, every_type, VALUES, some_row));
}

static struct text text_of_rows(const struct rows *rows)
{
	return (struct text){ rows->items, rows->count };
}

/* --- tests --- */

TEST(encodes_as_clickhouse_does)
{
	static const struct store_column columns[] = {
		{ "a", STORE_U32 }, { "b", STORE_TEXT }, { "c", STORE_TEXTS }, { "d", STORE_U8S }
	};
	const union store_value row[] = {
		{ 0x01020304 },
		{ .text = TEXT("xy") },
		{ .texts = { some_texts, 2 } },
		{ .numbers = { some_numbers, 2 } },
	};
	static const char wanted[] = "\4\3\2\1"
				     "\2xy"
				     "\2\4main\0"
				     "\2\1\xc8";
	struct rows rows = { 0 };

	expect_ok(rows_append(&rows, columns, 4, row));
	assert_int_equal(rows.count, sizeof(wanted) - 1);
	assert_memory_equal(rows.items, wanted, rows.count);
	array_deinit(&rows);
}

TEST(numbers_end_at_the_largest_of_their_column)
{
	const union store_value large = { UINT64_MAX - 1 };
	static const enum store_type types[] = { STORE_U8, STORE_U32, STORE_SUM32, STORE_TIME };

	for (size_t i = 0; i < array_length(types); i++) {
		const struct store_column column = { "a", types[i] };
		struct rows rows = { 0 };

		expect_ok(rows_append(&rows, &column, 1, &large));
		for (size_t at = 0; at < rows.count; at++)
			assert_int_equal((unsigned char)rows.items[at], 0xff);
		array_deinit(&rows);
	}
}

TEST(reads_pieces_of_any_length)
{
	struct rows rows = { 0 };

	encode(&rows, 20);
	for (size_t piece = 1; piece < rows.count + 2; piece += piece < 100 ? 1 : 37) {
		struct copy copy = { .most = SIZE_MAX };
		struct rows_reader reader;

		expect_ok(rows_reader_init(&reader, every_type, VALUES, copy_row, &copy));
		expect_ok(feed(&reader, text_of_rows(&rows), piece));
		assert_int_equal(reader.rows, 20);
		assert_int_equal(copy.rows.count, rows.count);
		assert_memory_equal(copy.rows.items, rows.items, rows.count);
		rows_reader_deinit(&reader);
		array_deinit(&copy.rows);
	}
	array_deinit(&rows);
}

TEST(an_answer_that_ends_within_a_row_is_an_error)
{
	struct rows rows = { 0 };

	encode(&rows, 3);
	for (size_t length = 1; length < rows.count; length++) {
		struct text part = { rows.items, length };
		struct copy copy = { .most = SIZE_MAX };
		struct rows_reader reader;

		expect_ok(rows_reader_init(&reader, every_type, VALUES, copy_row, &copy));
		if (length % (rows.count / 3) == 0)
			expect_ok(feed(&reader, part, 50));
		else
			expect_error(feed(&reader, part, 50), "the answer ends within row");
		assert_int_equal(reader.rows, length / (rows.count / 3));
		rows_reader_deinit(&reader);
		array_deinit(&copy.rows);
	}
	array_deinit(&rows);
}

static void refuse(enum store_type type, const char *bytes, size_t length, const char *message)
{
	const struct store_column column = { "a", type };
	struct rows_reader reader;

	expect_ok(rows_reader_init(&reader, &column, 1, copy_row, NULL));
	expect_error(feed(&reader, (struct text){ bytes, length }, length), message);
	assert_true(reader.begun.room < 1 << 20 && reader.texts.room < 1 << 20);
	rows_reader_deinit(&reader);
}

TEST(lengths_that_no_row_has_are_refused)
{
	static const char endless[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
	static const char most[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1";
	static const char large[] = "\x81\x80\x80\x08"; /* ROW_BYTES_MAX + 1 */

	refuse(STORE_TEXT, endless, 11, "row 1 of the answer is longer than 16777216 bytes");
	refuse(STORE_TEXTS, endless, 11, "longer than");
	refuse(STORE_U32S, endless, 11, "longer than");
	refuse(STORE_TEXT, most, 10, "longer than");
	refuse(STORE_U32S, most, 10, "longer than");
	refuse(STORE_TEXT, large, 4, "longer than");
	refuse(STORE_U8S, large, 4, "longer than");
	refuse(STORE_TEXTS, "\xff\xff\xff", 3, "ends within row 1");
}

/* A row of 4 MiB in pieces of 8 bytes would take minutes if each piece looked at all before it. */
TEST(a_long_row_in_small_pieces_is_read_once)
{
	size_t length = (size_t)4 << 20;
	char *bytes = calloc(1, length);
	union store_value row[VALUES] = { [STRING] = { .text = { bytes, length } } };
	struct copy copy = { .most = SIZE_MAX };
	struct rows_reader reader;
	struct rows rows = { 0 };

	assert_non_null(bytes);
	expect_ok(rows_append(&rows, every_type, VALUES, row));
	expect_ok(rows_reader_init(&reader, every_type, VALUES, copy_row, &copy));
	for (size_t at = 0; at < rows.count; at += 8)
		expect_ok(rows_reader_feed(
			&reader, (struct text){ rows.items + at,
						rows.count - at < 8 ? rows.count - at : 8 }));
	expect_ok(rows_reader_finish(&reader));
	assert_int_equal(reader.rows, 1);
	assert_int_equal(copy.rows.count, rows.count);
	rows_reader_deinit(&reader);
	array_deinit(&copy.rows);
	array_deinit(&rows);
	free(bytes);
}

TEST(the_error_of_a_taker_ends_it)
{
	struct copy copy = { .most = 1 };
	struct rows_reader reader;
	struct rows rows = { 0 };

	encode(&rows, 3);
	expect_ok(rows_reader_init(&reader, every_type, VALUES, copy_row, &copy));
	expect_error(feed(&reader, text_of_rows(&rows), rows.count), "enough");
	rows_reader_deinit(&reader);
	array_deinit(&copy.rows);
	array_deinit(&rows);
}

UNIT_TESTS(cmocka_unit_test(encodes_as_clickhouse_does),
	   cmocka_unit_test(numbers_end_at_the_largest_of_their_column),
	   cmocka_unit_test(reads_pieces_of_any_length),
	   cmocka_unit_test(an_answer_that_ends_within_a_row_is_an_error),
	   cmocka_unit_test(lengths_that_no_row_has_are_refused),
	   cmocka_unit_test(a_long_row_in_small_pieces_is_read_once),
	   cmocka_unit_test(the_error_of_a_taker_ends_it))
