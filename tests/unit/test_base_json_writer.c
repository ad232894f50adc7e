/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <yajl/yajl_tree.h>

#include "base/utf8.h"
#include "unit/unit.h"

static void write_all(void (*body)(struct json_writer *w), struct sunk *ret)
{
	struct json_writer w;

	expect_ok(json_writer_init(&w, sunk_write, ret));
	body(&w);
	expect_ok(json_writer_finish(&w));
	json_writer_deinit(&w);
}

#define expect_json(body, string)                          \
	do {                                               \
		struct sunk written_ = { 0 };              \
		write_all(body, &written_);                \
		expect_text(sunk_text(&written_), string); \
		array_deinit(&written_);                   \
	} while (0)

static void nested(struct json_writer *w)
{
	json_object_begin(w);
	json_key(w, "a");
	json_array_begin(w);
	json_u64(w, 1);
	json_object_begin(w);
	json_object_end(w);
	json_array_begin(w);
	json_array_end(w);
	json_null(w);
	json_bool(w, true);
	json_bool(w, false);
	json_array_end(w);
	json_key(w, "b");
	json_text(w, TEXT("x"));
	json_key_text(w, TEXT("c\""));
	json_i64(w, -1);
	json_object_end(w);
}

TEST(commas_stand_between)
{
	expect_json(nested, "{\"a\":[1,{},[],null,true,false],\"b\":\"x\",\"c\\\"\":-1}");
}

static void numbers(struct json_writer *w)
{
	json_array_begin(w);
	json_u64(w, 0);
	json_u64(w, UINT64_MAX);
	json_i64(w, INT64_MIN);
	json_i64(w, INT64_MAX);
	json_i64(w, 0);
	json_u64(w, 10);
	json_array_end(w);
}

TEST(numbers_are_exact)
{
	expect_json(numbers, "[0,18446744073709551615,-9223372036854775808,"
			     "9223372036854775807,0,10]");
}

/* Around each power of two and of ten, where the number of digits is easily one off. */
TEST(numbers_of_every_length)
{
	for (uint64_t power = 1, next = 0; next != 1; power = next) {
		next = power <= UINT64_MAX / 10 ? power * 10 : 1;
		for (unsigned shift = 0; shift < 4; shift++)
			for (uint64_t value = (power << shift) - 1; value != (power << shift) + 2;
			     value++) {
				struct sunk written = { 0 };
				struct json_writer w;
				char expected[32];

				expect_ok(json_writer_init(&w, sunk_write, &written));
				json_u64(&w, value);
				expect_ok(json_writer_finish(&w));
				json_writer_deinit(&w);
				snprintf(expected, sizeof(expected), "%" PRIu64, value);
				expect_text(sunk_text(&written), expected);
				array_deinit(&written);
			}
	}
}

static void put(struct json_writer *w, const char *text)
{
	char *at = json_place(w, strlen(text));

	json_placed(w, (char *)memcpy(at, text, strlen(text)) + strlen(text));
}

static void ready(struct json_writer *w)
{
	json_object_begin(w);
	put(w, "\"a\":0,\"b\":{}");
	put(w, ",\"c\":[],\"d\":");
	json_u64(w, 1);
	put(w, ",\"e\":2");
	json_continue(w);
	json_key(w, "f");
	json_null(w);
	json_object_end(w);
}

TEST(text_made_beforehand_brings_its_commas)
{
	expect_json(ready, "{\"a\":0,\"b\":{},\"c\":[],\"d\":1,\"e\":2,\"f\":null}");
}

/* Wherever the buffer ends. */
TEST(text_made_beforehand_has_room)
{
	for (size_t before = 0; before < 64; before++) {
		_cleanup_free_ char *filler = calloc(1, JSON_ROOM_LEAST);
		struct sunk written = { 0 };
		struct json_writer w;

		memset(filler, 'x', JSON_ROOM_LEAST - 1 - before);
		expect_ok(json_writer_init_room(&w, JSON_ROOM_LEAST, sunk_write, &written));
		put(&w, filler);
		put(&w, "0123456789012345678901234567890");
		expect_ok(json_writer_finish(&w));
		json_writer_deinit(&w);
		assert_int_equal(written.count, strlen(filler) + 31);
		expect_text(((struct text){ written.items + strlen(filler), 31 }),
			    "0123456789012345678901234567890");
		array_deinit(&written);
	}
}

static void digits(struct json_writer *w)
{
	json_array_begin(w);
	json_digits(w, "129127208515966861305");
	json_digits(w, "-0.5");
	json_null(w);
	json_array_end(w);
}

/* More than 64 bits, and numbers that are not whole, stay as they are written. */
TEST(digits_are_unchanged)
{
	expect_json(digits, "[129127208515966861305,-0.5,null]");
}

static void reals(struct json_writer *w)
{
	json_array_begin(w);
	json_real(w, 0.1);
	json_real(w, -2.5);
	json_real(w, 100);
	json_real(w, 1.0 / 3);
	json_real(w, (double)INFINITY);
	json_real(w, (double)-INFINITY);
	json_real(w, (double)NAN);
	json_array_end(w);
}

TEST(reals_are_short_and_finite)
{
	expect_json(reals, "[0.1,-2.5,100,0.33333333333333331,null,null,null]");
}

/* Any bits there can be: what comes out is a number of JSON, and the same one. */
TEST(reals_read_back_as_themselves)
{
	uint64_t seed = 5;

	for (int round = 0; round < 5000; round++) {
		uint64_t bits = next_random(&seed);
		struct sunk written = { 0 };
		struct json_writer w;
		yajl_val tree;
		double value;

		memcpy(&value, &bits, sizeof(value));
		expect_ok(json_writer_init(&w, sunk_write, &written));
		json_array_begin(&w);
		json_real(&w, value);
		json_array_end(&w);
		expect_ok(json_writer_finish(&w));
		json_writer_deinit(&w);
		tree = yajl_tree_parse(written.items, NULL, 0);
		assert_non_null(tree);
		if (isfinite(value))
			assert_true(strtod(YAJL_GET_NUMBER(YAJL_GET_ARRAY(tree)->values[0]),
					   NULL) == value);
		else
			assert_true(YAJL_IS_NULL(YAJL_GET_ARRAY(tree)->values[0]));
		yajl_tree_free(tree);
		array_deinit(&written);
	}
}

static void lines(struct json_writer *w)
{
	json_object_begin(w);
	json_key(w, "rows");
	json_array_begin(w);
	for (int i = 0; i < 2; i++) {
		json_line(w);
		json_object_begin(w);
		json_line(w);
		json_key(w, "i");
		json_i64(w, -i);
		json_object_end(w);
	}
	json_array_end(w);
	json_line(w);
	json_key(w, "end");
	json_bool(w, true);
	json_object_end(w);
}

TEST(a_line_for_each_row)
{
	expect_json(lines, "{\"rows\":[\n{\n\"i\":0},\n{\n\"i\":-1}],\n\"end\":true}");
}

static void controls(struct json_writer *w)
{
	static const char bytes[] = "\0\x01\x08\t\n\x0b\x0c\r\x1f \"\\/\x7f";

	json_text(w, (struct text){ bytes, sizeof(bytes) - 1 });
}

TEST(special_bytes_are_escaped)
{
	expect_json(controls, "\"\\u0000\\u0001\\u0008\\t\\n\\u000b\\u000c\\u000d\\u001f "
			      "\\\"\\\\/\\u007f\"");
}

static void misleading(struct json_writer *w)
{
	json_text(
		w,
		TEXT("\xc2\x9b\u061c\u200d\u200e\u200f\u2028\u202e\u202f\u2066\u2069\u206a\u00e4"));
}

TEST(bidirectional_controls_are_escaped)
{
	expect_json(misleading, "\"\\u009b\\u061c\u200d\\u200e\\u200f\\u2028\\u202e\u202f\\u2066"
				"\\u2069\u206a\u00e4\"");
}

static void not_utf8(struct json_writer *w)
{
	json_object_begin(w);
	json_key_text(w, TEXT("k\xff"));
	json_text(w, TEXT("\xc3\xa4\xc3(\xed\xa0\x80"));
	json_object_end(w);
}

TEST(bytes_that_are_not_utf8_are_replaced)
{
	expect_json(not_utf8, "{\"k" UTF8_REPLACEMENT "\":\"\xc3\xa4" UTF8_REPLACEMENT
			      "(" UTF8_REPLACEMENT UTF8_REPLACEMENT UTF8_REPLACEMENT "\"}");
}

/* Whatever the bytes, a parser of others reads them back. */
TEST(random_bytes_are_read_back_by_yajl)
{
	uint64_t seed = 3;

	for (int round = 0; round < 500; round++) {
		char bytes[40], clean[40 * UTF8_REPLACEMENT_LENGTH + 1];
		struct text text = { bytes, next_random(&seed) % sizeof(bytes) };
		struct sunk written = { 0 };
		struct json_writer w;
		yajl_val tree;

		/* A NUL would end yajl's string early. */
		for (size_t i = 0; i < text.length; i++)
			bytes[i] = (char)(1 + next_random(&seed) % 255);
		clean[utf8_clean(text, clean)] = '\0';
		expect_ok(json_writer_init(&w, sunk_write, &written));
		json_array_begin(&w);
		json_text(&w, text);
		json_array_end(&w);
		expect_ok(json_writer_finish(&w));
		json_writer_deinit(&w);
		tree = yajl_tree_parse(written.items, NULL, 0);
		assert_non_null(tree);
		assert_string_equal(YAJL_GET_STRING(YAJL_GET_ARRAY(tree)->values[0]), clean);
		yajl_tree_free(tree);
		array_deinit(&written);
	}
}

enum { MANY = 200000 };

static void many(struct json_writer *w)
{
	json_array_begin(w);
	for (uint64_t i = 0; i < MANY; i++)
		json_u64(w, i);
	json_array_end(w);
}

TEST(more_than_the_buffer_comes_in_order)
{
	struct sunk written = { 0 };
	char *at;

	write_all(many, &written);
	assert_true(written.calls > 1);
	at = written.items;
	assert_int_equal(*at, '[');
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(strtoull(at + 1, &at, 10), i);
	assert_string_equal(at, "]");
	array_deinit(&written);
}

TEST(one_string_longer_than_the_buffer)
{
	enum { LENGTH = 1000003 };
	char *text = malloc(LENGTH);
	struct sunk written = { 0 };
	struct json_writer w;

	memset(text, 'x', LENGTH);
	expect_ok(json_writer_init(&w, sunk_write, &written));
	json_text(&w, (struct text){ text, LENGTH });
	expect_ok(json_writer_finish(&w));
	json_writer_deinit(&w);
	assert_int_equal(written.count, LENGTH + 2);
	assert_int_equal(written.items[0], '"');
	assert_memory_equal(written.items + 1, text, LENGTH);
	assert_int_equal(written.items[LENGTH + 1], '"');
	array_deinit(&written);
	free(text);
}

TEST(the_first_error_is_kept_and_the_rest_dropped)
{
	struct sunk written = { .refuse_after = 1 };
	struct json_writer w;

	expect_ok(json_writer_init(&w, sunk_write, &written));
	many(&w);
	many(&w);
	expect_error(json_writer_finish(&w), "the sink is full");
	assert_int_equal(written.calls, 1);
	json_writer_deinit(&w);
	array_deinit(&written);
}

TEST(one_that_was_never_finished)
{
	struct sunk written = { .refuse_after = 1 };
	struct json_writer w;

	expect_ok(json_writer_init(&w, sunk_write, &written));
	many(&w);
	json_writer_deinit(&w);
	array_deinit(&written);
}

UNIT_TESTS(cmocka_unit_test(commas_stand_between), cmocka_unit_test(numbers_are_exact),
	   cmocka_unit_test(numbers_of_every_length),
	   cmocka_unit_test(text_made_beforehand_brings_its_commas),
	   cmocka_unit_test(text_made_beforehand_has_room), cmocka_unit_test(digits_are_unchanged),
	   cmocka_unit_test(reals_are_short_and_finite),
	   cmocka_unit_test(reals_read_back_as_themselves), cmocka_unit_test(a_line_for_each_row),
	   cmocka_unit_test(special_bytes_are_escaped),
	   cmocka_unit_test(bidirectional_controls_are_escaped),
	   cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
	   cmocka_unit_test(random_bytes_are_read_back_by_yajl),
	   cmocka_unit_test(more_than_the_buffer_comes_in_order),
	   cmocka_unit_test(one_string_longer_than_the_buffer),
	   cmocka_unit_test(the_first_error_is_kept_and_the_rest_dropped),
	   cmocka_unit_test(one_that_was_never_finished))
