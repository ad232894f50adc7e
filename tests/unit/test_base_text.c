/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include "unit/unit.h"

TEST(trim)
{
	expect_text(text_trim(TEXT("  a b \t\r\n")), "a b");
	expect_text(text_trim(TEXT("x")), "x");
	expect_text(text_trim(TEXT(" \n\t ")), "");
	expect_text(text_trim(TEXT("")), "");
}

TEST(equal_and_starts)
{
	assert_true(text_equal(TEXT("a\0b"), TEXT("a\0b")));
	assert_false(text_equal(TEXT("a\0b"), TEXT("a\0c")));
	assert_false(text_equal(TEXT("a"), TEXT("ab")));
	assert_true(text_equal(TEXT(""), TEXT("")));
	assert_true(text_starts(TEXT("abc"), TEXT("ab")));
	assert_true(text_starts(TEXT("abc"), TEXT("")));
	assert_false(text_starts(TEXT("ab"), TEXT("abc")));
}

TEST(ends)
{
	assert_true(text_ends(TEXT("nginx.service"), TEXT(".service")));
	assert_true(text_ends(TEXT("abc"), TEXT("abc")));
	assert_true(text_ends(TEXT("abc"), TEXT("")));
	assert_true(text_ends(TEXT("a\0b"), TEXT("\0b")));
	assert_false(text_ends(TEXT("abc"), TEXT("ab")));
	assert_false(text_ends(TEXT("bc"), TEXT("abc")));
	assert_false(text_ends(TEXT(""), TEXT("c")));
}

/* All-zero texts are empty texts. */
TEST(a_text_of_nothing)
{
	struct text nothing = { 0 }, piece;
	uint64_t number;

	assert_true(text_equal(nothing, TEXT("")));
	assert_true(text_starts(nothing, TEXT("")));
	assert_false(text_starts(nothing, TEXT("x")));
	assert_true(text_ends(nothing, TEXT("")));
	assert_true(text_ends(TEXT("x"), nothing));
	assert_false(text_ends(nothing, TEXT("x")));
	assert_int_equal(text_trim(nothing).length, 0);
	assert_false(text_cut(&nothing, ',', &piece));
	assert_false(text_word(&nothing, &piece));
	assert_false(text_u64(nothing, &number));
}

TEST(cut)
{
	struct text rest = TEXT("a\n\nb"), piece;

	assert_true(text_cut(&rest, '\n', &piece));
	expect_text(piece, "a");
	assert_true(text_cut(&rest, '\n', &piece));
	expect_text(piece, "");
	assert_true(text_cut(&rest, '\n', &piece));
	expect_text(piece, "b");
	assert_false(text_cut(&rest, '\n', &piece));
	expect_text(piece, "b");

	rest = TEXT("x\n");
	assert_true(text_cut(&rest, '\n', &piece));
	assert_false(text_cut(&rest, '\n', &piece));
}

TEST(word)
{
	struct text rest = TEXT(" one\t two\nthree "), piece;

	assert_true(text_word(&rest, &piece));
	expect_text(piece, "one");
	assert_true(text_word(&rest, &piece));
	expect_text(piece, "two");
	assert_true(text_word(&rest, &piece));
	expect_text(piece, "three");
	assert_false(text_word(&rest, &piece));
	expect_text(piece, "three");
}

TEST(has_word)
{
	const struct text line = TEXT("quiet psi=1 delayacct\tro\n");

	assert_true(text_has_word(line, TEXT("quiet")));
	assert_true(text_has_word(line, TEXT("psi")));
	assert_true(text_has_word(line, TEXT("psi=1")));
	assert_true(text_has_word(line, TEXT("delayacct")));
	assert_true(text_has_word(line, TEXT("ro")));
	assert_false(text_has_word(line, TEXT("delay")));
	assert_false(text_has_word(line, TEXT("acct")));
	assert_false(text_has_word(line, TEXT("psi=")));
	assert_false(text_has_word(line, TEXT("delayacct2")));
	assert_false(
		text_has_word(TEXT("nodelayacct x=delayacct delayacct.y=1"), TEXT("delayacct")));
	assert_false(text_has_word(TEXT(""), TEXT("ro")));
	/* the last word ends where the text does */
	assert_true(text_has_word((struct text){ "psi=1", 3 }, TEXT("psi")));
	assert_false(text_has_word((struct text){ "psi=1", 2 }, TEXT("psi")));
}

/* Values of the authors' tables of FNV-1a. */
TEST(hashes)
{
	assert_true(text_hash(TEXT(""), 0) == 0xcbf29ce484222325);
	assert_true(text_hash(TEXT("a"), 0) == 0xaf63dc4c8601ec8c);
	assert_true(text_hash(TEXT("foobar"), 0) == 0x85944171f73967e8);
	assert_true(text_hash(TEXT("foobar"), 0) != text_hash(TEXT("foobar"), 1));
}

TEST(u64_exact)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
		{ "0", 0 },
		{ "7", 7 },
		{ "9007199254740993", 9007199254740993u }, /* no double holds it */
		{ "9999999999999999999", 9999999999999999999u },
		{ "18446744073709551614", UINT64_MAX - 1 },
		{ "18446744073709551615", UINT64_MAX },
		{ "00000000000000000000000042", 42 },
	};

	for (size_t i = 0; i < array_length(good); i++) {
		struct text text = guarded(good[i].text, strlen(good[i].text));
		uint64_t value = 1;

		assert_true(text_u64(text, &value));
		assert_int_equal(value, good[i].value);
		unguard(text);
	}
}

TEST(u64_refused)
{
	static const char *const bad[] = { "",
					   "-1",
					   "+1",
					   " 1",
					   "1 ",
					   "0x1",
					   "1.0",
					   "1e3",
					   "1_0",
					   "a",
					   "18446744073709551616",
					   "99999999999999999999",
					   "184467440737095516150",
					   "-" };

	for (size_t i = 0; i < array_length(bad); i++) {
		uint64_t value = 77;

		assert_false(text_u64(text_of(bad[i]), &value));
		assert_int_equal(value, 77);
	}
}

TEST(u32)
{
	uint32_t value = 77;

	assert_true(text_u32(TEXT("4294967295"), &value));
	assert_int_equal(value, UINT32_MAX);
	value = 77;
	assert_false(text_u32(TEXT("4294967296"), &value));
	assert_false(text_u32(TEXT("-1"), &value));
	assert_int_equal(value, 77);
}

TEST(i64)
{
	int64_t value = 77;

	assert_true(text_i64(TEXT("9223372036854775807"), &value));
	assert_true(value == INT64_MAX);
	assert_true(text_i64(TEXT("-9223372036854775808"), &value));
	assert_true(value == INT64_MIN);
	assert_true(text_i64(TEXT("-20"), &value));
	assert_true(value == -20);
	assert_true(text_i64(TEXT("-0"), &value));
	assert_true(value == 0);
	value = 77;
	assert_false(text_i64(TEXT("9223372036854775808"), &value));
	assert_false(text_i64(TEXT("-9223372036854775809"), &value));
	assert_false(text_i64(TEXT("-"), &value));
	assert_false(text_i64(TEXT("--1"), &value));
	assert_false(text_i64(TEXT("+1"), &value));
	assert_false(text_i64(TEXT(""), &value));
	assert_true(value == 77);
}

static const char *nearest(const char *wrong)
{
	static const struct {
		int other;
		const char *name;
	} rows[] = { { 0, "capture" },
		     { 1, "compare" },
		     { 2, "show" },
		     { 3, "show-host" },
		     { 4, "metric-list" } };

	return text_nearest(wrong, &rows[0].name, array_length(rows), sizeof(rows[0]));
}

TEST(nearest_name)
{
	char long_name[100] = { 0 };

	assert_string_equal(nearest("compar"), "compare");
	assert_string_equal(nearest("cpature"), "capture");
	assert_string_equal(nearest("shwo"), "show");
	assert_string_equal(nearest("show-hots"), "show-host");
	assert_string_equal(nearest("show"), "show");
	assert_string_equal(nearest("met"), "metric-list");
	assert_null(nearest("xyzzy"));
	assert_null(nearest("completely-different"));
	memset(long_name, 'c', sizeof(long_name) - 1);
	assert_null(nearest(long_name));
}

TEST(control_characters_are_made_safe)
{
	char plain[] = "caf\xc3\xa9 \xc2\xa0 \xff", wild[] = "\x1b[2J\n\x7f\xc2\x9b\xc2";

	assert_false(text_make_safe(plain));
	assert_string_equal(plain, "caf\xc3\xa9 \xc2\xa0 \xff");
	assert_true(text_make_safe(wild));
	assert_string_equal(wild, "?[2J????\xc2");
}

TEST(prints)
{
	char *text = text_print("%s %d%%", "half is", 50), *longer = text_print("%*s", 5000, "x");

	assert_string_equal(text, "half is 50%");
	assert_int_equal(strlen(longer), 5000);
	free(text);
	free(longer);
}

UNIT_TESTS(cmocka_unit_test(trim), cmocka_unit_test(equal_and_starts), cmocka_unit_test(ends),
	   cmocka_unit_test(a_text_of_nothing), cmocka_unit_test(cut), cmocka_unit_test(word),
	   cmocka_unit_test(has_word), cmocka_unit_test(hashes), cmocka_unit_test(u64_exact),
	   cmocka_unit_test(u64_refused), cmocka_unit_test(u32), cmocka_unit_test(i64),
	   cmocka_unit_test(nearest_name), cmocka_unit_test(control_characters_are_made_safe),
	   cmocka_unit_test(prints))
