/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/table.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

#include "unit/kstats_scene.h"

/* --- rows --- */

TEST(rows_are_in_order_and_each_once)
{
	static const struct {
		uint64_t id;
		const char *label;
	} asked[] = { { 7, NULL }, { 3, "b" }, { UINT64_MAX, NULL }, { 3, "a" },   { 7, NULL },
		      { 0, "x" },  { 3, "b" }, { 3, NULL },          { 100, NULL } };
	struct kstats_table *table = scene_kstats("rows", 0);

	for (size_t i = 0; i < array_length(asked); i++)
		scene_kstats_record(table, asked[i].id, asked[i].label, 5);
	assert_int_equal(table->rows.count, 7);
	for (size_t i = 1; i < table->rows.count; i++) {
		const struct kstats_row *a = &table->rows.items[i - 1], *b = a + 1;

		assert_true(a->id < b->id ||
			    (a->id == b->id && strcmp(a->label ? a->label : "", b->label) < 0));
	}
	/* 7 and (3, "b") were asked for twice. */
	assert_int_equal(table->rows.items[3].slots[bucket_slot(5, 0)].count, 2);
	assert_string_equal(table->rows.items[3].label, "b");
	assert_int_equal(table->rows.items[4].id, 7);
	assert_int_equal(table->rows.items[4].slots[bucket_slot(5, 0)].count, 2);
	kstats_table_destroy(table);
	kstats_table_destroy(NULL);
}

/* --- fewer slots --- */

/* The same values in slots of `frac_bits`, over three rows. */
static struct kstats_table *recorded(unsigned frac_bits, uint64_t seed, unsigned count)
{
	struct kstats_table *table = scene_kstats("values", frac_bits);

	for (unsigned i = 0; i < count; i++)
		scene_kstats_record(table, i % 3, NULL, scene_kstats_value(&seed));
	scene_kstats_record(table, 0, NULL, 0);
	scene_kstats_record(table, 1, NULL, UINT64_MAX);
	return table;
}

/* Counts as if recorded with the coarser bits; sums no smaller than those (bits are dropped of the
 * sum, not of each value), and not larger by more than the values lost that way. */
static void expect_as_recorded(const struct kstats_table *table, const struct kstats_table *direct,
			       const struct kstats_table *fine)
{
	assert_int_equal(table->frac_bits, direct->frac_bits);
	assert_int_equal(table->rows.count, direct->rows.count);
	for (size_t i = 0; i < table->rows.count; i++)
		for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++) {
			const struct kstats_slot *got = &table->rows.items[i].slots[slot];
			const struct kstats_slot *want = &direct->rows.items[i].slots[slot];

			assert_true(got->count == want->count);
			assert_true(got->sum >= want->sum);
			assert_true(got->sum - want->sum <= want->count);
			if (!bucket_shift(slot, table->frac_bits))
				assert_true(got->sum == want->sum);
		}
	assert_true(table->frac_bits <= fine->frac_bits);
}

TEST(coarsened_is_recorded_coarser)
{
	for (unsigned fine = 0; fine <= BUCKET_FRAC_BITS_MAX; fine++)
		for (unsigned coarse = 0; coarse <= BUCKET_FRAC_BITS_MAX; coarse++) {
			struct kstats_table *table = recorded(fine, 1, 3000);
			struct kstats_table *first = recorded(fine, 1, 3000);
			struct kstats_table *direct =
				recorded(coarse < fine ? coarse : fine, 1, 3000);

			expect_ok(kstats_table_coarsen(table, coarse));
			expect_as_recorded(table, direct, first);
			/* There is nothing to refine from. */
			if (coarse >= fine)
				expect_same_kstats(table, first);
			kstats_table_destroy(table);
			kstats_table_destroy(first);
			kstats_table_destroy(direct);
		}
}

/* What one value keeps of itself in the sum, by hand: 10^9 + 1 at 3 bits loses its last 7 bits
 * (octave 27), at 0 bits its last 10 (octave 30). */
TEST(sums_lose_scaled_bits)
{
	struct kstats_table *table = scene_kstats("one", 3);

	scene_kstats_record(table, 0, NULL, 1000000001);
	assert_int_equal(table->rows.items[0].slots[222].sum, 7812500);
	expect_ok(kstats_table_coarsen(table, 0));
	assert_int_equal(table->rows.items[0].slots[30].count, 1);
	assert_int_equal(table->rows.items[0].slots[30].sum, 976562);
	kstats_table_destroy(table);
}

/* A slot of values that do not fit has a place too, though no value of 64 bits reaches it. */
TEST(slots_beyond_a_coarser_scale_stay_in_the_last_one)
{
	for (unsigned fine = 1; fine <= BUCKET_FRAC_BITS_MAX; fine++) {
		struct kstats_table *table = scene_kstats("beyond", fine), *same;
		struct kstats_row *row;

		expect_ok(kstats_table_row(table, 0, NULL, &row));
		row->slots[BUCKET_SLOTS(fine) - 1] = (struct kstats_slot){ 4, 1000 };
		expect_ok(kstats_table_copy_rows(table, &same));
		expect_same_kstats(table, same);
		expect_ok(kstats_table_coarsen(table, 0));
		assert_int_equal(table->rows.items[0].slots[64].count, 4);
		kstats_table_destroy(table);
		kstats_table_destroy(same);
	}
}

/* --- together --- */

TEST(merged_is_recorded_together)
{
	for (unsigned into = 0; into <= BUCKET_FRAC_BITS_MAX; into++)
		for (unsigned from = 0; from <= BUCKET_FRAC_BITS_MAX; from++) {
			unsigned least = into < from ? into : from;
			struct kstats_table *a = scene_kstats("a", into);
			struct kstats_table *b = scene_kstats("b", from);
			struct kstats_table *both = scene_kstats("both", least);
			uint64_t stream = 9;

			for (unsigned i = 0; i < 3000; i++) {
				uint64_t value = scene_kstats_value(&stream);
				/* Rows of one side, of the other, and of both. */
				uint64_t id = i % 2 ? i % 5 : 3 + i % 5;

				scene_kstats_record(i % 2 ? a : b, id, NULL, value);
				scene_kstats_record(both, id, NULL, value);
			}
			expect_ok(kstats_table_merge(a, b));
			assert_string_equal(a->name, "a");
			expect_as_recorded(a, both, b);
			kstats_table_destroy(a);
			kstats_table_destroy(b);
			kstats_table_destroy(both);
		}
}

/* In whichever order three hosts are merged, it is the same. */
TEST(merging_has_no_order)
{
	static const unsigned orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };
	struct kstats_table *first = NULL;

	for (size_t i = 0; i < array_length(orders); i++) {
		struct kstats_table *all = scene_kstats("all", 4);

		for (unsigned k = 0; k < 3; k++) {
			struct kstats_table *one = recorded(4, orders[i][k], 500);

			expect_ok(kstats_table_merge(all, one));
			kstats_table_destroy(one);
		}
		if (first) {
			expect_same_kstats(all, first);
			kstats_table_destroy(all);
		} else {
			first = all;
		}
	}
	kstats_table_destroy(first);
}

TEST(words_of_merged)
{
	struct kstats_table *a = scene_kstats("read", 3), *b = scene_kstats("read", 3);

	scene_kstats_word(&a->host, "one");
	scene_kstats_word(&b->host, "two");
	scene_kstats_word(&a->start, "vfs_read");
	scene_kstats_word(&b->start, "vfs_read");
	scene_kstats_word(&a->recorder, "bpf");
	scene_kstats_word(&a->scope.key, "cpu");
	scene_kstats_word(&b->scope.key, "cpu");
	scene_kstats_word(&a->scope.only[KSTATS_FILTER_COMM], "cat");
	scene_kstats_word(&b->scope.only[KSTATS_FILTER_COMM], "cat");
	scene_kstats_word(&a->scope.only[KSTATS_FILTER_PID], "12");
	scene_kstats_word(&b->scope.only[KSTATS_FILTER_PID], "13");
	scene_kstats_word(&b->scope.only[KSTATS_FILTER_CPUS], "0");
	a->cpus = 4, b->cpus = 16;
	a->taken_ns = 900, b->taken_ns = 800;
	a->overhead_ns = 50, b->overhead_ns = 60;
	a->earlier = 3, b->earlier = 4;
	a->earlier_known = true;
	b->is_active = true;
	a->losses_known = 1u << KSTATS_LOSS_missed | 1u << KSTATS_LOSS_full;
	b->losses_known = 1u << KSTATS_LOSS_missed | 1u << KSTATS_LOSS_backwards;
	a->losses[KSTATS_LOSS_missed] = 2;
	b->losses[KSTATS_LOSS_missed] = 3;
	expect_ok(kstats_table_merge(a, b));
	assert_null(a->host);
	assert_null(a->recorder);
	assert_string_equal(a->start, "vfs_read");
	assert_string_equal(a->scope.key, "cpu");
	assert_string_equal(a->scope.only[KSTATS_FILTER_COMM], "cat");
	assert_string_equal(a->scope.only[KSTATS_FILTER_PID], KSTATS_SEVERAL);
	assert_string_equal(a->scope.only[KSTATS_FILTER_CPUS], KSTATS_SEVERAL);
	assert_null(a->scope.only[KSTATS_FILTER_CGROUP]);
	assert_int_equal(a->cpus, 16);
	assert_int_equal(a->taken_ns, 900);
	assert_int_equal(a->overhead_ns, 60);
	assert_int_equal(a->earlier, 7);
	assert_false(a->earlier_known);
	assert_true(a->is_active);
	assert_int_equal(a->losses_known, 1u << KSTATS_LOSS_missed);
	assert_int_equal(a->losses[KSTATS_LOSS_missed], 5);
	b->overhead_ns = 0;
	expect_ok(kstats_table_merge(a, b));
	assert_int_equal(a->overhead_ns, 0);
	kstats_table_destroy(a);
	kstats_table_destroy(b);
}

TEST(tables_that_do_not_merge)
{
	struct kstats_table *a = recorded(3, 1, 50), *b = recorded(2, 2, 50);
	struct kstats_table *before = recorded(3, 1, 50);

	scene_kstats_word(&b->unit, "bytes");
	expect_error(kstats_table_merge(a, b), "values of values are in ns, of values in byt");
	expect_same_kstats(a, before);
	scene_kstats_word(&b->unit, "ns");
	b->by = KSTATS_BY_PROCESS;
	expect_error(kstats_table_merge(a, b),
		     "cannot merge: values is grouped by cpu, values by process");
	expect_same_kstats(a, before);
	b->by = KSTATS_BY_CPU;
	b->rows.items[1].slots[2].count = UINT64_MAX - 100;
	expect_error(kstats_table_merge(a, b), "too many values: counter overflow");
	expect_same_kstats(a, before);
	b->rows.items[1].slots[2].count = UINT64_MAX;
	b->rows.items[2].slots[2].count = UINT64_MAX;
	expect_error(kstats_table_merge(a, b), "too many values: counter overflow");
	expect_same_kstats(a, before);
	kstats_table_destroy(a);
	kstats_table_destroy(b);
	kstats_table_destroy(before);
}

/* --- between two readings --- */

TEST(a_difference_has_the_values_in_between)
{
	for (unsigned bits = 0; bits <= BUCKET_FRAC_BITS_MAX; bits++) {
		struct kstats_table *all = scene_kstats("all", bits), *earlier;
		struct kstats_table *later = scene_kstats("all", bits);
		uint64_t stream = 4;

		all->losses[KSTATS_LOSS_missed] = 3;
		for (unsigned i = 0; i < 1000; i++)
			scene_kstats_record(all, i % 4, i % 4 == 2 ? "label" : NULL,
					    scene_kstats_value(&stream));
		expect_ok(kstats_table_copy_rows(all, &earlier));
		all->losses[KSTATS_LOSS_missed] = 10;
		/* Nothing more in row 1; rows 0 and 9 are new to the end and to the beginning. */
		for (unsigned i = 0; i < 1000; i++) {
			uint64_t value = scene_kstats_value(&stream);
			uint64_t id = i % 3 == 1 ? 9 : i % 3;

			scene_kstats_record(all, id, id == 2 ? "label" : NULL, value);
			scene_kstats_record(later, id, id == 2 ? "label" : NULL, value);
		}
		later->losses[KSTATS_LOSS_missed] = 7;
		expect_ok(kstats_table_subtract(all, earlier));
		expect_same_kstats(all, later);
		kstats_table_destroy(all);
		kstats_table_destroy(earlier);
		kstats_table_destroy(later);
	}
}

/* Sums may have gone around once. */
TEST(sums_that_went_around)
{
	struct kstats_table *now = scene_kstats("x", 0), *before;

	scene_kstats_record(now, 0, NULL, 8);
	now->rows.items[0].slots[4].sum = UINT64_MAX - 1;
	expect_ok(kstats_table_copy_rows(now, &before));
	scene_kstats_record(now, 0, NULL, 9);
	expect_ok(kstats_table_subtract(now, before));
	assert_int_equal(now->rows.items[0].slots[4].count, 1);
	assert_int_equal(now->rows.items[0].slots[4].sum, 9);
	kstats_table_destroy(now);
	kstats_table_destroy(before);
}

/* One process after the other had the same number, and the second has executed a program since. */
TEST(reused_numbers_are_told_apart)
{
	struct kstats_table *now = scene_kstats("x", 3), *before = scene_kstats("x", 3),
			    *merged = scene_kstats("x", 3);

	now->by = before->by = merged->by = KSTATS_BY_PROCESS;
	for (unsigned i = 0; i < 5; i++) {
		scene_kstats_record_born(now, 42, 1000, "shop", 1);
		scene_kstats_record_born(now, 42, 2000, "mill", 1);
		scene_kstats_record_born(now, 42, 3000, "mill", 1);
		if (i >= 2)
			continue;
		scene_kstats_record_born(before, 42, 1000, "shop", 1);
		scene_kstats_record_born(before, 42, 2000, "shop", 1);
	}
	assert_int_equal(now->rows.count, 3);
	expect_ok(kstats_table_merge(merged, now));
	expect_ok(kstats_table_merge(merged, before));
	/* The name is part of what is added up. */
	assert_int_equal(merged->rows.count, 4);
	assert_int_equal(merged->rows.items[0].slots[1].count, 7);
	assert_int_equal(merged->rows.items[1].slots[1].count, 5);
	expect_ok(kstats_table_subtract(now, before));
	assert_int_equal(now->rows.count, 3);
	assert_int_equal(now->rows.items[0].slots[1].count, 3);
	assert_int_equal(now->rows.items[1].slots[1].count, 3);
	assert_int_equal(now->rows.items[2].slots[1].count, 5);
	assert_true(now->rows.items[2].born == 3000);
	/* What is gone was reset. */
	scene_kstats_record_born(before, 42, 4000, "shop", 1);
	expect_error(kstats_table_subtract(now, before), "was reset meanwhile");
	kstats_table_destroy(now);
	kstats_table_destroy(before);
	kstats_table_destroy(merged);
}

/* Of a merge, a number has several names. */
TEST(names_are_subtracted_from_their_own)
{
	struct kstats_table *now = scene_kstats("x", 3), *before = scene_kstats("x", 3);

	for (unsigned i = 0; i < 3; i++) {
		scene_kstats_record(now, 7, "a", 1);
		scene_kstats_record(now, 7, "b", 1);
		scene_kstats_record(now, 7, "b", 1);
	}
	scene_kstats_record(before, 7, "b", 1);
	for (unsigned i = 0; i < 4; i++)
		scene_kstats_record(before, 7, "b", 1);
	expect_ok(kstats_table_subtract(now, before));
	assert_int_equal(now->rows.items[0].slots[1].count, 3);
	assert_int_equal(now->rows.items[1].slots[1].count, 1);
	kstats_table_destroy(now);
	kstats_table_destroy(before);
}

/* Times of a metric that is started, stopped and emptied: values per second while it recorded. */
TEST(rates)
{
	struct kstats_table *table = scene_kstats("x", 3), *later = scene_kstats("x", 3);
	struct kstats_recorded_time time = { 0 };

	assert_true(isnan(kstats_table_rate(table)));
	kstats_recorded_begin(&time, 1, (struct kstats_now){ 1000, 100 });
	assert_int_equal(kstats_recorded_ns(&time, (struct kstats_now){ 0, 160 }), 60);
	kstats_recorded_switch(&time, 0, (struct kstats_now){ 0, 200 });
	assert_int_equal(kstats_recorded_ns(&time, (struct kstats_now){ 0, 900 }), 100);
	kstats_recorded_switch(&time, 0, (struct kstats_now){ 0, 1000 });
	kstats_recorded_switch(&time, 1, (struct kstats_now){ 0, 2000 });
	kstats_recorded_switch(&time, 1, (struct kstats_now){ 0, 2100 });
	assert_int_equal(kstats_recorded_ns(&time, (struct kstats_now){ 0, 2300 }), 400);
	/* What others wrote is of the future. */
	assert_int_equal(kstats_recorded_ns(&time, (struct kstats_now){ 0, 5 }), 0);
	kstats_recorded_begin(&time, 0, (struct kstats_now){ 1001, 3000 });
	assert_int_equal(kstats_recorded_ns(&time, (struct kstats_now){ 0, 9000 }), 0);
	table->recorded_ns = 2000000000;
	table->began_ns = later->began_ns = 1000;
	later->recorded_ns = 5000000000;
	for (unsigned i = 0; i < 10; i++) {
		scene_kstats_record(later, 0, NULL, i);
		if (i < 4)
			scene_kstats_record(table, 0, NULL, i);
	}
	assert_true(kstats_table_rate(table) == 2);
	expect_ok(kstats_table_subtract(later, table));
	assert_true(kstats_table_rate(later) == 2);
	/* Times that are shorter, and another beginning. */
	later->recorded_ns = 1000000000;
	table->rows.items[0].slots[0].count = table->rows.items[0].slots[1].count = 0;
	table->rows.items[0].slots[2].count = table->rows.items[0].slots[3].count = 0;
	expect_error(kstats_table_subtract(later, table), "was reset meanwhile");
	later->recorded_ns = 6000000000;
	later->began_ns = 1001;
	expect_error(kstats_table_subtract(later, table), "was reset meanwhile");
	later->began_ns = 0;
	expect_ok(kstats_table_subtract(later, table));
	kstats_table_destroy(table);
	kstats_table_destroy(later);
}

/* It was reset, and what was recorded since then is still there to be told. */
TEST(a_reset_is_seen)
{
	struct kstats_table *now = recorded(3, 5, 100), *before = recorded(3, 5, 100);
	struct kstats_table *same = recorded(3, 5, 100);

	/* One more in the last row: the rows before it are subtracted in vain. */
	scene_kstats_record(before, 2, NULL, 1234);
	expect_error(kstats_table_subtract(now, before), "values was reset meanwhile");
	expect_same_kstats(now, same);
	kstats_table_destroy(before);
	before = recorded(3, 5, 100);
	scene_kstats_record(before, 4, NULL, 1234);
	expect_error(kstats_table_subtract(now, before), "values was reset meanwhile");
	expect_same_kstats(now, same);
	kstats_table_destroy(before);
	before = scene_kstats("values", 3);
	before->losses[KSTATS_LOSS_full] = 1;
	expect_error(kstats_table_subtract(now, before), "values was reset meanwhile");
	expect_same_kstats(now, same);
	kstats_table_destroy(before);
	kstats_table_destroy(now);
	kstats_table_destroy(same);
}

TEST(one_made_anew_is_seen)
{
	struct kstats_table *now = recorded(3, 5, 10), *before = recorded(2, 5, 10);

	expect_error(kstats_table_subtract(now, before), "values was recreated meanwhile");
	kstats_table_destroy(before);
	before = recorded(3, 5, 10);
	before->by = KSTATS_BY_RETVAL;
	expect_error(kstats_table_subtract(now, before), "values was recreated meanwhile");
	kstats_table_destroy(before);
	kstats_table_destroy(now);
}

UNIT_TESTS(cmocka_unit_test(rows_are_in_order_and_each_once),
	   cmocka_unit_test(coarsened_is_recorded_coarser), cmocka_unit_test(sums_lose_scaled_bits),
	   cmocka_unit_test(slots_beyond_a_coarser_scale_stay_in_the_last_one),
	   cmocka_unit_test(merged_is_recorded_together), cmocka_unit_test(merging_has_no_order),
	   cmocka_unit_test(words_of_merged), cmocka_unit_test(tables_that_do_not_merge),
	   cmocka_unit_test(a_difference_has_the_values_in_between),
	   cmocka_unit_test(sums_that_went_around), cmocka_unit_test(a_reset_is_seen),
	   cmocka_unit_test(reused_numbers_are_told_apart),
	   cmocka_unit_test(names_are_subtracted_from_their_own), cmocka_unit_test(rates),
	   cmocka_unit_test(one_made_anew_is_seen))
