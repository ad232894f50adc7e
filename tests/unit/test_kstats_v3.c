/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/v3.h"

#include <stdio.h>

#include "../kstats_values.h"
#include "unit/unit.h"

/* Its text is `wanted`, byte for byte. */
static void expect_print(const struct kstats_table *table, const char *wanted)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	kstats_v3_print(table, out);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void record(struct kstats_table *table, unsigned cpu, uint64_t value)
{
	unsigned slot = bucket_slot(value, table->frac_bits);
	struct kstats_row *row;

	expect_ok(kstats_table_row(table, cpu, NULL, &row));
	row->slots[slot].count++;
	row->slots[slot].sum += value >> bucket_shift(slot, table->frac_bits);
}

static struct kstats_table *parsed(const char *text)
{
	struct text bytes = guarded(text, strlen(text));
	struct kstats_table *table;

	expect_ok(kstats_v3_parse(bytes, "foo", &table));
	unguard(bytes);
	return table;
}

static const char known[] =
	"slot 0   CPU  0    count        1 avg        0 p 0.250000\n"
	"slot 0   CPUS 28   count        1 avg        0 p 0.142857\n"
	"slot 55  CPU  0    count        2 avg      495 p 0.750000\n"
	"slot 55  CPU  12   count        1 avg      480 p 0.333333\n"
	"slot 55  CPUS 28   count        3 avg      490 p 0.571428\n"
	"slot 168 CPU  12   count        1 avg  8388608 p 0.666666\n"
	"slot 168 CPUS 28   count        1 avg  8388608 p 0.714285\n"
	"slot 302 CPU  0    count        1 avg 999999930368 p 1.000000\n"
	"slot 302 CPUS 28   count        1 avg 999999930368 p 0.857142\n"
	"slot 495 CPU  12   count        1 avg 18446741874686296064 p 1.000000\n"
	"slot 495 CPUS 28   count        1 avg 18446741874686296064 p 1.000000\n";

TEST(prints_as_the_module)
{
	struct kstats_table *table;

	expect_ok(kstats_table_create("foo", 3, "ns", &table));
	table->cpus = 28;
	record(table, 0, 0);
	record(table, 0, 480);
	record(table, 0, 511);
	record(table, 0, 1000000000000);
	record(table, 12, 480);
	record(table, 12, 8388609);
	record(table, 12, UINT64_MAX);
	expect_print(table, known);
	kstats_table_destroy(table);
}

/* As files may have them: what is printed can be read again. */
TEST(sums_that_are_none_of_their_slot)
{
	static const struct {
		uint64_t sums[2];
		const char *text;
	} cases[] = {
		{ { 0, 0 },
		  "slot 302 CPU  0    count        1 avg 962072674304 p 1.000000\n"
		  "slot 302 CPU  1    count        1 avg 962072674304 p 1.000000\n"
		  "slot 302 CPUS 2    count        2 avg 962072674304 p 1.000000\n" },
		{ { UINT64_MAX, UINT64_MAX / 2 },
		  "slot 302 CPU  0    count        1 avg 1030792019968 p 1.000000\n"
		  "slot 302 CPU  1    count        1 avg 1030792019968 p 1.000000\n"
		  "slot 302 CPUS 2    count        2 avg 1030792019968 p 1.000000\n" },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		struct kstats_table *table;

		expect_ok(kstats_table_create("foo", 3, "ns", &table));
		table->cpus = 2;
		for (unsigned cpu = 0; cpu < 2; cpu++) {
			struct kstats_row *row;

			expect_ok(kstats_table_row(table, cpu, NULL, &row));
			row->slots[302] = (struct kstats_slot){ 1, cases[i].sums[cpu] };
		}
		expect_print(table, cases[i].text);
		kstats_table_destroy(table);
		kstats_table_destroy(parsed(cases[i].text));
	}
}

TEST(reads_and_prints_the_same)
{
	struct kstats_table *table = parsed(known);

	assert_int_equal(table->frac_bits, 3);
	assert_int_equal(table->cpus, 28);
	assert_int_equal(table->rows.count, 2);
	assert_int_equal(table->rows.items[1].id, 12);
	assert_int_equal(table->rows.items[0].slots[55].count, 2);
	assert_int_equal(table->losses_known, 0);
	expect_print(table, known);
	kstats_table_destroy(table);
}

/* Of many values on several CPUs, whose means are rounded: what was printed is printed again. */
TEST(many_values_stay)
{
	for (unsigned bits = 0; bits <= BUCKET_FRAC_BITS_MAX; bits++) {
		struct kstats_table *table, *again;
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		expect_ok(kstats_table_create("foo", bits, "", &table));
		table->cpus = 4;
		for (unsigned i = 0; i < 20000; i++)
			record(table, i % 3, kstats_value(i));
		kstats_v3_print(table, out);
		fclose(out);
		again = parsed(text);
		assert_int_equal(again->frac_bits, bits);
		expect_print(again, text);
		for (size_t i = 0; i < table->rows.count; i++)
			for (unsigned slot = 0; slot < BUCKET_SLOTS(bits); slot++)
				assert_int_equal(again->rows.items[i].slots[slot].count,
						 table->rows.items[i].slots[slot].count);
		kstats_table_destroy(again);
		kstats_table_destroy(table);
		free(text);
	}
}

/* As the posting shows it: blanks are lost, and most lines. */
static const char posted[] = "slot 55 CPU 0 count 589 avg 480 p 0.027613\n"
			     "slot 55 CPU 1 count 18 avg 480 p 0.002572\n"
			     "slot 55 CPU 2 count 25 avg 480 p 0.003325\n"
			     "slot 55 CPUS 28 count 814 avg 480 p 0.002474\n"
			     "slot 97 CPU 13 count 1150 avg 20130 p 0.447442\n"
			     "slot 97 CPUS 28 count 152585 avg 19809 p 0.651747\n";

TEST(excerpts_keep_their_totals)
{
	struct kstats_table *table = parsed(posted);
	struct kstats_row *rest = &table->rows.items[table->rows.count - 1];

	assert_int_equal(table->frac_bits, 3);
	assert_int_equal(table->rows.count, 5);
	assert_string_equal(rest->label, KSTATS_V3_REST);
	assert_int_equal(rest->slots[55].count, 814 - 589 - 18 - 25);
	assert_int_equal(rest->slots[97].count, 152585 - 1150);
	kstats_table_destroy(table);
	/* `grep CPUS`, and what is printed of it. */
	table = parsed("slot 55  CPUS 28   count        3 avg      490 p 1.000000\n");
	assert_int_equal(table->rows.count, 1);
	expect_print(table, "slot 55  CPUS 28   count        3 avg      490 p 1.000000\n");
	kstats_table_destroy(table);
}

/* The largest sum exceeds 64 bits; the printed mean is still the one that was read. */
TEST(the_rest_of_very_many)
{
	static const char *const texts[] = {
		"slot 167 CPUS 2    count 2269959489602 avg  7864320 p 1.000000\n",
		"slot 167 CPUS 2    count 2269959489602 avg  8126463 p 1.000000\n",
	};

	for (size_t i = 0; i < array_length(texts); i++) {
		struct kstats_table *table = parsed(texts[i]);

		assert_int_equal(table->frac_bits, 3);
		expect_print(table, texts[i]);
		kstats_table_destroy(table);
	}
}

TEST(later_formats_are_read)
{
	struct kstats_table *table =
		parsed("slot CFG TABLES 2 bits 3\nslot ERRS 0\n"
		       "slot 55   CPU  0    count        2  avg      495  p 0.500000  n        2\n"
		       "slot 97   CPU  0    count        2  avg    19000  p 1.000000  n        4\n"
		       "slot 55   TABLES 2    count        2 avg      495 p 0.500000        2\n");

	assert_int_equal(table->rows.count, 1);
	assert_int_equal(table->rows.items[0].slots[97].count, 2);
	kstats_table_destroy(table);
}

TEST(how_many_bits)
{
	static const struct {
		const char *text;
		uint32_t possible;
		unsigned chosen;
	} cases[] = {
		{ "", 0x3f, 3 },
		{ "slot 0 CPU 0 count 1 avg 0 p 1.000000\n", 0x3f, 3 },
		/* 7 is in slot 7 from 2 bits on. */
		{ "slot 7 CPU 0 count 1 avg 7 p 1.000000\n", 0x3c, 3 },
		{ "slot 100 CPU 0 count 1 avg 32100 p 1.000000\n", 0, 0 },
		{ "slot 48 CPU 0 count 1 avg 64 p 1.000000\n", 1 << 4, 4 },
		{ "slot 55 CPU 0 count 1 avg 55 p 1.000000\n", 1 << 5, 5 },
		{ "slot 5 CPU 0 count 1 avg 16 p 1.000000\n", 1 << 0, 0 },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		struct kstats_table *table;
		uint32_t possible;
		struct error *err =
			kstats_v3_parse_bits(text_of(cases[i].text), "foo", &possible, &table);

		if (!cases[i].possible) {
			expect_error(err, "fits no number of bits");
			continue;
		}
		expect_ok(err);
		assert_int_equal(possible, cases[i].possible);
		assert_int_equal(table->frac_bits, cases[i].chosen);
		kstats_table_destroy(table);
	}
}

TEST(invalid_text)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "hello\n", "line 1 is not a kstats line: 'hello'" },
		{ "slot 1 CPU 0 count 1 avg 1 p 1.000000\nslot\n", "line 2 is not a kstats line" },
		{ "slot 1 CPU 0 count 1 avg 1 p 2.000000\n", "line 1 is not a kstats line" },
		{ "slot 1 CPU 0 count 1 avg 1 p 1\n", "line 1 is not a kstats line" },
		{ "slot -1 CPU 0 count 1 avg 1 p 1.000000\n", "line 1 is not a kstats line" },
		{ "slot 1 CPU 4294967296 count 1 avg 1 p 1.000000\n",
		  "line 1 is not a kstats line" },
		{ "slot 1 CPU 0 count 1 avg 18446744073709551616 p 1.0\n",
		  "line 1 is not a kstats line" },
		{ "slot 4294967295 CPU 0 count 1 avg 1 p 1.0\n", "fits no number of bits" },
		{ "slot 1 CPU 0 count 0 avg 1 p 1.0\n", "has no values" },
		{ "slot 1 CPU 0 count 1 avg 1 p 1.0\nslot 1 CPU 0 count 1 avg 1 p 1.0\n",
		  "is duplicated" },
		{ "slot 1 CPUS 2 count 1 avg 1 p 1.0\nslot 1 CPUS 2 count 1 avg 1 p 1.0\n",
		  "is duplicated" },
		{ "slot 1 CPU 0 count 2 avg 1 p 1.0\nslot 1 CPUS 2 count 1 avg 1 p 1.0\n",
		  "slot 1 has 1 values, and its CPUs 2" },
		{ "slot 1 CPU 0 count 18446744073709551615 avg 1 p 1.0\n"
		  "slot 1 CPU 1 count 1 avg 1 p 1.0\n",
		  "too many values: counter overflow" },
		{ "\033[2Jslot\n", "'?[2Jslot'" },
	};
	struct kstats_table *table;

	for (size_t i = 0; i < array_length(cases); i++)
		expect_error(kstats_v3_parse(text_of(cases[i].text), "foo", &table), cases[i].says);
}

UNIT_TESTS(cmocka_unit_test(prints_as_the_module),
	   cmocka_unit_test(sums_that_are_none_of_their_slot),
	   cmocka_unit_test(reads_and_prints_the_same), cmocka_unit_test(many_values_stay),
	   cmocka_unit_test(excerpts_keep_their_totals), cmocka_unit_test(the_rest_of_very_many),
	   cmocka_unit_test(later_formats_are_read), cmocka_unit_test(how_many_bits),
	   cmocka_unit_test(invalid_text))
