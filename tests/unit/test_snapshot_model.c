/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "snapshot/bits.h"
#include "snapshot/fields.h"
#include "unit/build.h"

/* --- bits --- */

TEST(bits_as_text)
{
	struct bits bits = { 0 }, back;
	char text[BITS_TEXT_MAX];

	bits_add(&bits, 0);
	bits_add(&bits, 5);
	assert_string_equal(bits_format(text, &bits, 6), "12");
	assert_true(bits_parse(TEXT("12"), &back));
	assert_memory_equal(&bits, &back, sizeof(bits));
	assert_true(bits_parse(TEXT("12000"), &back));
	assert_memory_equal(&bits, &back, sizeof(bits));
}

TEST(bits_round_trip)
{
	uint64_t seed = 11;

	for (int round = 0; round < 200; round++) {
		struct bits bits = { 0 }, back;
		char text[BITS_TEXT_MAX];

		for (size_t i = 0; i < BITS_MAX; i++)
			if (next_random(&seed) & 1)
				bits_add(&bits, i);
		bits_format(text, &bits, BITS_MAX);
		assert_int_equal(strlen(text), BITS_MAX / 4);
		assert_true(bits_parse(text_of(text), &back));
		assert_memory_equal(&bits, &back, sizeof(bits));
	}
}

TEST(not_bits)
{
	char text[BITS_TEXT_MAX + 1];
	struct bits bits = { .words = { 7 } };

	memset(text, '0', sizeof(text));
	assert_false(bits_parse((struct text){ text, BITS_MAX / 4 + 1 }, &bits));
	assert_false(bits_parse(TEXT("1g"), &bits));
	assert_false(bits_parse(TEXT("1A"), &bits));
	assert_false(bits_parse(TEXT(" 1"), &bits));
	assert_int_equal(bits.words[0], 7);
	assert_true(bits_parse(TEXT(""), &bits));
	assert_int_equal(bits.words[0], 0);
}

/* --- fields --- */

TEST(every_field_is_found_by_its_name)
{
	for (enum field_list list = 0; list < LIST_COUNT; list++) {
		assert_true(fields_count(list) > 0);
		assert_true(fields_count(list) <= BITS_MAX);
		for (size_t i = 0; i < fields_count(list); i++)
			assert_int_equal(fields_find(list, text_of(fields_name(list, i))), i);
		assert_int_equal(fields_find(list, TEXT("no such field")), -1);
	}
	assert_int_equal(fields_find(LIST_THREADS, TEXT("run_time_ns")), METRIC_run_time_ns);
	assert_true(fields_find(LIST_CGROUPS, TEXT("cpu.usage_usec")) >= 0);
	assert_true(fields_find(LIST_CGROUPS, TEXT("psi.irq.full.total_usec")) >= 0);
	assert_true(fields_find(LIST_PSI, TEXT("memory.some.avg300")) >= 0);
}

TEST(bits_of_a_thread)
{
	struct counts smaps = { 0 };
	struct ctprof_thread t = { .start_time_clock_ticks = reading_of(5),
				   .smaps_rollup_kib = &smaps };
	struct bits bits;

	metric_set_add(&t.record.measured, METRIC_nice);
	thread_measured_bits(&t, &bits);
	for (size_t i = 0; i < THREAD_FIELD_COUNT; i++)
		assert_int_equal(bits_has(&bits, i), i == METRIC_nice ||
							     i == THREAD_FIELD_START_TIME ||
							     i == THREAD_FIELD_SMAPS);
	bits = (struct bits){ 0 };
	bits_add(&bits, METRIC_run_time_ns);
	thread_apply_bits(&t, &bits);
	assert_false(is_measured(&t, METRIC_nice));
	assert_false(is_measured(&t, METRIC_run_time_ns));
	assert_false(t.start_time_clock_ticks.measured);
	assert_null(t.smaps_rollup_kib);
}

TEST(bits_of_a_cgroup)
{
	struct cgroup_counters c = { .cpu.usage_usec = reading_of(5),
				     .pids.max = { .measured = true, .unlimited = true } };
	struct bits bits;

	object_measured_bits(LIST_CGROUPS, &c, &bits);
	for (size_t i = 0; i < fields_count(LIST_CGROUPS); i++) {
		const char *name = fields_name(LIST_CGROUPS, i);

		assert_int_equal(bits_has(&bits, i), strcmp(name, "cpu.usage_usec") == 0 ||
							     strcmp(name, "pids.max") == 0);
	}
	bits = (struct bits){ 0 };
	bits_add(&bits, (size_t)fields_find(LIST_CGROUPS, TEXT("pids.max")));
	object_apply_bits(LIST_CGROUPS, &c, &bits);
	assert_false(c.cpu.usage_usec.measured);
	assert_true(c.pids.max.measured);
	assert_true(c.pids.max.unlimited);
}

/* --- the model --- */

TEST(threads_do_not_move)
{
	enum { COUNT = 3 * THREADS_PER_CHUNK + 1 };
	struct ctprof_snapshot *s = build_snapshot();
	static struct ctprof_thread *threads[COUNT];

	for (uint32_t i = 0; i < COUNT; i++)
		threads[i] = build_thread(s, 1, i + 1, "p", "t", "/");
	assert_int_equal(s->threads.count, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_ptr_equal(snapshot_thread(s, i), threads[i]);
		assert_int_equal(threads[i]->tid, i + 1);
	}
	snapshot_destroy(s);
	snapshot_destroy(NULL);
}

TEST(truncated_threads_come_back_empty)
{
	struct ctprof_snapshot *s = build_snapshot();
	static const struct ctprof_thread empty;

	for (uint32_t i = 0; i < 10; i++)
		build_thread(s, 1, i + 1, "p", "t", "/");
	snapshot_truncate_threads(s, 4);
	assert_int_equal(s->threads.count, 4);
	assert_int_equal(snapshot_thread(s, 3)->tid, 4);
	assert_memory_equal(snapshot_add_thread(s), &empty, sizeof(empty));
	snapshot_destroy(s);
}

/* Of as many threads as have whole pages, and in any order. */
TEST(released_threads_come_back_empty)
{
	struct ctprof_snapshot *s = build_snapshot();
	static const struct ctprof_thread empty;
	enum { THREADS = 700, KEPT = 5 };

	for (uint32_t i = 0; i < THREADS; i++)
		build_number(build_thread(s, 1, THREADS - i, "p", "t", "/"), METRIC_run_time_ns, i);
	expect_ok(snapshot_sort_threads(s));
	snapshot_release_threads(s, KEPT);
	assert_int_equal(s->threads.count, KEPT);
	for (uint32_t i = 0; i < KEPT; i++)
		assert_int_equal(snapshot_thread(s, i)->tid, i + 1);
	for (int i = 0; i < THREADS - KEPT; i++)
		assert_memory_equal(snapshot_add_thread(s), &empty, sizeof(empty));
	assert_int_equal(snapshot_thread(s, KEPT - 1)->record.values.run_time_ns.v, THREADS - KEPT);
	snapshot_destroy(s);
}

TEST(keys_that_come_twice_are_found)
{
	struct ctprof_snapshot *s = build_snapshot();
	struct counts counts = { 0 };
	struct label_pairs pairs = { 0 };
	char key[16];

	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		assert_true(counts_add(s, &counts, text_of(key), (uint64_t)i));
		assert_true(label_pairs_add(s, &pairs, text_of(key), TEXT("same")));
	}
	expect_ok(counts_check(&counts));
	expect_ok(label_pairs_check(&pairs));
	assert_true(counts_add(s, &counts, TEXT("k42"), 1));
	assert_true(label_pairs_add(s, &pairs, TEXT("k42"), TEXT("x")));
	expect_error(counts_check(&counts), "duplicate");
	expect_error(label_pairs_check(&pairs), "duplicate");
	assert_int_equal(counts.count, 101);
	assert_int_equal(counts.items[42].value, 42);
	assert_true(counts.measured);
	assert_true(pairs.measured);
	assert_string_equal(pairs.items[42].key->bytes, "k42");
	assert_string_equal(pairs.items[42].value->bytes, "same");
	assert_string_equal(pairs.items[100].value->bytes, "x");
	snapshot_destroy(s);
}

TEST(names_of_counters_that_come_twice_are_found)
{
	static const char *const names[] = { "cpu0", "cpu1", "cpu0" };
	struct ctprof_snapshot *s = build_snapshot();

	for (size_t i = 0; i < array_length(names); i++)
		assert_non_null(snapshot_add_counters(s, COUNTERS_CPU, text_of(names[i])));
	assert_true(s->counters.items[0].counts.measured);
	expect_ok(counter_sets_check(s->counters.items, 0));
	expect_ok(counter_sets_check(s->counters.items, 2));
	expect_ok(counter_sets_check(s->counters.items + 1, 2));
	expect_error(counter_sets_check(s->counters.items, 3), "duplicate");
	snapshot_destroy(s);
}

TEST(every_kind_of_counter_has_a_name)
{
	for (enum counter_kind kind = 0; kind < COUNTER_KIND_COUNT; kind++)
		for (enum counter_kind other = 0; other < kind; other++)
			assert_string_not_equal(counter_kind_names[kind],
						counter_kind_names[other]);
}

TEST(nothing_is_unique)
{
	const struct counts counts = { 0 };
	const struct label_pairs pairs = { 0 };

	expect_ok(counts_check(&counts));
	expect_ok(label_pairs_check(&pairs));
	assert_false(counts.measured || pairs.measured);
}

TEST(a_name_ends_at_its_first_nul)
{
	struct ctprof_snapshot *s = build_snapshot();
	const struct name *name = snapshot_name(s, (struct text){ "ab\0cd", 5 });

	expect_text(name_text(name), "ab");
	assert_ptr_equal(name, snapshot_name(s, TEXT("ab")));
	assert_ptr_equal(name, snapshot_name(s, (struct text){ "ab\0ef", 6 }));
	expect_text(name_text(snapshot_name(s, (struct text){ "\0x", 2 })), "");
	expect_text(name_text(snapshot_name(s, TEXT(""))), "");
	snapshot_destroy(s);
}

TEST(processes_and_cgroups_in_order)
{
	static const char *const paths[] = { "/b", "/a/b", "/", "/a" };
	static const char *const sorted[] = { "/", "/a", "/a/b", "/b" };
	struct ctprof_snapshot *s = build_snapshot();

	for (uint32_t i = 0; i < 4; i++) {
		assert_true(array_push(&s->processes, (struct process){ .tgid = 40 - i * 10 }));
		assert_true(array_push(
			&s->cgroups,
			(struct cgroup_counters){ .path = snapshot_name(s, text_of(paths[i])) }));
	}
	snapshot_sort(s);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(s->processes.items[i].tgid, 10 + i * 10);
		assert_string_equal(s->cgroups.items[i].path->bytes, sorted[i]);
	}
	snapshot_destroy(s);
}

TEST(remarks)
{
	struct ctprof_snapshot *s = build_snapshot();

	expect_ok(snapshot_remark(s, "%d of %s", 2, "them"));
	expect_ok(snapshot_remark(s, "another"));
	assert_int_equal(s->remarks.count, 2);
	assert_string_equal(s->remarks.items[0], "2 of them");
	snapshot_destroy(s);
}

TEST(a_count_is_found_by_its_key)
{
	struct ctprof_snapshot *s;
	struct counts counts = { 0 };

	assert_null(snapshot_create(&s));
	assert_null(counts_find(&counts, TEXT("a")));
	assert_true(counts_add(s, &counts, TEXT("a"), 1));
	assert_true(counts_add(s, &counts, TEXT("ab"), 2));
	assert_int_equal(counts_find(&counts, TEXT("ab"))->value, 2);
	assert_null(counts_find(&counts, TEXT("b")));
	snapshot_destroy(s);
}

UNIT_TESTS(cmocka_unit_test(bits_as_text), cmocka_unit_test(bits_round_trip),
	   cmocka_unit_test(not_bits), cmocka_unit_test(every_field_is_found_by_its_name),
	   cmocka_unit_test(bits_of_a_thread), cmocka_unit_test(bits_of_a_cgroup),
	   cmocka_unit_test(threads_do_not_move),
	   cmocka_unit_test(truncated_threads_come_back_empty),
	   cmocka_unit_test(released_threads_come_back_empty),
	   cmocka_unit_test(keys_that_come_twice_are_found), cmocka_unit_test(nothing_is_unique),
	   cmocka_unit_test(names_of_counters_that_come_twice_are_found),
	   cmocka_unit_test(every_kind_of_counter_has_a_name),
	   cmocka_unit_test(a_name_ends_at_its_first_nul),
	   cmocka_unit_test(processes_and_cgroups_in_order), cmocka_unit_test(remarks),
	   cmocka_unit_test(a_count_is_found_by_its_key))
