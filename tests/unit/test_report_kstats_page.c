/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/kstats_page.h"

#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

static struct kstats_table *table_of(const char *name, uint64_t began_ns, uint64_t taken_ns,
				     const uint64_t *values, size_t count)
{
	struct kstats_table *table;
	struct kstats_row *row;

	expect_ok(kstats_table_create(name, 3, "ns", &table));
	table->began_ns = began_ns;
	table->taken_ns = taken_ns;
	expect_ok(kstats_table_row(table, 0, NULL, &row));
	for (size_t i = 0; i < count; i++) {
		const unsigned slot = (unsigned)bucket_slot(values[i], 3);

		row->slots[slot].count++;
		row->slots[slot].sum += values[i] >> bucket_shift(slot, 3);
	}
	return table;
}

static char *page_of(const struct kstats_table *before, const struct kstats_table *after)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	expect_ok(kstats_page_print(out, before, after));
	fclose(out);
	return text;
}

static size_t occurrences(const char *text, const char *of)
{
	size_t count = 0;

	for (; (text = strstr(text, of)); text++)
		count++;
	return count;
}

TEST(bars_have_their_values)
{
	static const uint64_t values[] = { 8, 8, 8, 1000 };
	struct kstats_table *table = table_of("reads", 0, 0, values, array_length(values));
	_cleanup_free_ char *text = page_of(NULL, table);

	assert_non_null(strstr(text, "<title>8ns .. 8ns: 3 (75.00 %)</title>"));
	assert_non_null(strstr(text, "<title>960ns .. 1.023µs: 1 (25.00 %)</title>"));
	assert_int_equal(occurrences(text, "<rect class=\"exec\""), 2);
	assert_int_equal(occurrences(text, "outline"), 0);
	kstats_table_destroy(table);
}

/* Both sides are shares of their own values, in the same columns. */
TEST(sides_share_their_columns)
{
	static const uint64_t old[] = { 8, 8, 8, 1000 }, new[] = { 8, 1000 };
	struct kstats_table *before = table_of("reads", 0, 0, old, array_length(old));
	struct kstats_table *after = table_of("reads", 0, 0, new, array_length(new));
	_cleanup_free_ char *text = page_of(before, after);

	assert_non_null(strstr(text, "before: 8ns .. 8ns: 3 (75.00 %)"));
	assert_non_null(strstr(text, "after: 8ns .. 8ns: 1 (50.00 %)"));
	assert_non_null(strstr(text, "4 values before, 2 after"));
	kstats_table_destroy(before);
	kstats_table_destroy(after);
}

TEST(the_whole_range_of_numbers_fits)
{
	static const uint64_t values[] = { 0, 1, UINT64_MAX };
	struct kstats_table *table = table_of("all", 0, 0, values, array_length(values));
	_cleanup_free_ char *text = page_of(NULL, table);

	assert_int_equal(occurrences(text, "(33.33 %)</title>"), 2 + 1);
	kstats_table_destroy(table);
}

TEST(nothing_has_no_picture_and_names_are_text)
{
	struct kstats_table *table = table_of("</h3><script>", 0, 0, NULL, 0);
	_cleanup_free_ char *text = page_of(NULL, table);

	assert_int_equal(occurrences(text, "<svg"), 0);
	assert_int_equal(occurrences(text, "<script"), 0);
	assert_non_null(strstr(text, "<h3>&lt;/h3&gt;&lt;script&gt;</h3>"));
	kstats_table_destroy(table);
}

/* A column has what came since the reading before it, or all of another recording. */
TEST(columns_are_differences)
{
	static const uint64_t first[] = { 8 }, second[] = { 8, 8, 8, 1000 }, third[] = { 1000 };
	struct kstats_table *tables[] = { table_of("reads", 5, 1000000000, first, 1),
					  table_of("reads", 5, 2000000000, second, 4),
					  table_of("reads", 6, 3000000000, third, 1) };
	const struct kstats_table *const readings[] = { tables[0], tables[1], tables[2] };
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	expect_ok(kstats_page_heat(out, readings, 2));
	fflush(out);
	assert_int_equal(length, 0);
	expect_ok(kstats_page_heat(out, readings, 3));
	fclose(out);
	assert_non_null(strstr(text, "1 value from 8ns to 11ns, interval 1<"));
	assert_non_null(strstr(text, "2 values from 8ns to 11ns, interval 2<"));
	assert_non_null(strstr(text, "1 value from 768ns to 1.023µs, interval 2<"));
	assert_non_null(strstr(text, "1 value from 768ns to 1.023µs, interval 3<"));
	assert_null(strstr(text, "from 8ns to 11ns, interval 3<"));
	free(text);
	for (size_t i = 0; i < array_length(tables); i++)
		kstats_table_destroy(tables[i]);
}

UNIT_TESTS(cmocka_unit_test(bars_have_their_values), cmocka_unit_test(sides_share_their_columns),
	   cmocka_unit_test(the_whole_range_of_numbers_fits),
	   cmocka_unit_test(nothing_has_no_picture_and_names_are_text),
	   cmocka_unit_test(columns_are_differences))
