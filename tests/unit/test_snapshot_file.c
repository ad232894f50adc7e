/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/utf8.h"
#include "unit/build.h"
#include "unit/full_snapshot.h"

/* --- round trips --- */

static struct ctprof_snapshot *through_text(const struct ctprof_snapshot *s)
{
	struct ctprof_snapshot *back = NULL;
	struct sunk json = { 0 };

	expect_ok(snapshot_write_json(s, sunk_write, &json));
	expect_ok(parse_snapshot(sunk_text(&json), &back));
	array_deinit(&json);
	return back;
}

TEST(a_written_snapshot_is_read_unchanged)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = full_snapshot(seed, 30),
								   *back = NULL;

		back = through_text(s);
		expect_same_snapshot(s, back);
	}
}

TEST(the_same_through_a_file)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = full_snapshot(99, 1000),
							   *back = NULL;
	struct scratch scratch;

	scratch_init(&scratch);
	expect_ok(snapshot_save(s, scratch_path(&scratch, "x.ctprof.zst")));
	expect_ok(snapshot_load(scratch_path(&scratch, "x.ctprof.zst"), &back));
	expect_same_snapshot(s, back);
	scratch_deinit(&scratch);
}

/* Parts are written by different threads: of 384 threads each. */
TEST(the_parts_of_a_file_are_its_text)
{
	static const size_t counts[] = { 0, 1, 383, 384, 385, 768, 2000 };

	for (size_t i = 0; i < array_length(counts); i++) {
		_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = full_snapshot(7, counts[i]);
		_cleanup_free_ char *packed = NULL, *text = NULL;
		struct sunk json = { 0 };
		size_t length;

		expect_ok(snapshot_write_json(s, sunk_write, &json));
		expect_ok(snapshot_pack(s, &packed, &length));
		text = malloc(json.count);
		assert_int_equal(ZSTD_decompress(text, json.count, packed, length), json.count);
		assert_memory_equal(text, json.items, json.count);
		array_deinit(&json);
	}
}

/* Mostly the values of a thread before it, as threads of a host have them. */
static void make_alike(struct ctprof_snapshot *s, uint64_t *seed)
{
	for (size_t i = 2; i < s->threads.count; i++) {
		struct ctprof_thread *thread = snapshot_thread(s, i);
		const struct ctprof_thread *other =
			snapshot_thread(s, next_random(seed) % 50 ? i - 1 : 0);

		thread->record = other->record;
		thread->start_time_clock_ticks = other->start_time_clock_ticks;
		thread->smaps_rollup_kib = other->smaps_rollup_kib;
		if (next_random(seed) % 4)
			thread->comm = thread->pcomm = other->comm;
		for (unsigned changes = next_random(seed) % 8; changes; changes--) {
			enum metric_id id = next_random(seed) % METRIC_COUNT;

			if (id == METRIC_thread_count)
				continue;
			if (next_random(seed) % 16 == 0)
				metric_set_remove(&thread->record.measured, id);
			else if (metrics[id].kind == KIND_TOTAL && metrics[id].family == FAMILY_SUM)
				build_number(thread, id,
					     next_random(seed) >> next_random(seed) % 64);
		}
	}
}

TEST(threads_that_repeat_what_others_have)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = full_snapshot(seed, 1500),
								   *back = NULL;
		_cleanup_free_ char *packed = NULL, *text = NULL;
		struct sunk json = { 0 };
		uint64_t random = seed;
		size_t length;

		make_alike(s, &random);
		expect_ok(snapshot_write_json(s, sunk_write, &json));
		expect_ok(parse_snapshot(sunk_text(&json), &back));
		expect_same_snapshot(s, back);
		expect_ok(snapshot_pack(s, &packed, &length));
		assert_in_range(length, 1, json.count / 10);
		text = malloc(json.count);
		assert_int_equal(ZSTD_decompress(text, json.count, packed, length), json.count);
		assert_memory_equal(text, json.items, json.count);
		array_deinit(&json);
	}
}

/* What does not fit into the room of a thread: names, and kinds of memory. */
TEST(threads_with_long_names_between_others)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = full_snapshot(3, 800), *back = NULL;
	_cleanup_free_ char *packed = NULL, *text = NULL, *name = malloc(200000);
	struct sunk json = { 0 };
	uint64_t random = 3;
	size_t length;

	make_alike(s, &random);
	memset(name, '\x01', 200000);
	for (size_t i = 0; i < s->threads.count; i += 1 + next_random(&random) % 40) {
		struct ctprof_thread *thread = snapshot_thread(s, i);
		size_t bytes = next_random(&random) % 200000 >> next_random(&random) % 16;

		thread->comm = snapshot_name(s, (struct text){ name, bytes });
		thread->smaps_rollup_kib =
			arena_alloc(&s->arena, sizeof(*thread->smaps_rollup_kib));
		for (size_t k = 0; k < bytes % 64; k++) {
			char key[32];

			snprintf(key, sizeof(key), "%zu", k);
			assert_true(counts_add(s, thread->smaps_rollup_kib,
					       k ? text_of(key) : (struct text){ name, bytes }, k));
		}
	}
	expect_ok(snapshot_write_json(s, sunk_write, &json));
	expect_ok(parse_snapshot(sunk_text(&json), &back));
	expect_same_snapshot(s, back);
	expect_ok(snapshot_pack(s, &packed, &length));
	text = malloc(json.count);
	assert_int_equal(ZSTD_decompress(text, json.count, packed, length), json.count);
	assert_memory_equal(text, json.items, json.count);
	array_deinit(&json);
}

TEST(packed_bytes_are_those_of_the_file)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = full_snapshot(99, 1000);
	_cleanup_free_ char *packed = NULL;
	struct scratch scratch;
	size_t length;

	scratch_init(&scratch);
	expect_ok(snapshot_save(s, scratch_path(&scratch, "x.ctprof.zst")));
	expect_ok(snapshot_pack(s, &packed, &length));
	assert_true(scratch_holds(&scratch, "x.ctprof.zst", (struct text){ packed, length }));
	scratch_deinit(&scratch);
}

TEST(the_largest_number_in_every_metric)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = build_snapshot(), *back = NULL;
	struct ctprof_thread *t = build_thread(s, 1, UINT32_MAX, "p", "c", "/");

	s->captured_at_unix_ns = reading_of(1);
	for (enum metric_id id = 0; id < METRIC_COUNT; id++)
		if (metrics[id].family == FAMILY_SUM || metrics[id].family == FAMILY_MAX)
			build_number(t, id, UINT64_MAX);
	build_number(t, METRIC_thread_count, 1);
	back = through_text(s);
	expect_same_thread(t, snapshot_thread(back, 0));
}

TEST(nothing_but_the_moment)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = build_snapshot(), *back = NULL;

	s->captured_at_unix_ns = reading_of(1);
	back = through_text(s);
	assert_int_equal(back->threads.count, 0);
	assert_int_equal(back->cgroups.count, 0);
	assert_null(back->host);
	assert_null(back->sched_ext);
	assert_null(back->parse_summary);
	assert_null(back->note);
	assert_int_equal(back->counters.count, 0);
	assert_false(back->users.measured);
}

TEST(empty_lists_of_names)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = build_snapshot(), *back = NULL;

	s->captured_at_unix_ns = reading_of(1);
	s->users.measured = true;
	back = through_text(s);
	assert_true(back->users.measured);
	assert_int_equal(back->users.count, 0);
}

/* What another tool sorted by name is by kind again; and what a later version has is passed over.
 */
TEST(counters_in_another_order)
{
	static const enum counter_kind kinds[] = { COUNTERS_KERNEL, COUNTERS_CPU, COUNTERS_CPU,
						   COUNTERS_BLOCK,  COUNTERS_NET, COUNTERS_NET };
	static const char *const names[] = { "", "cpu9", "cpu1", "vda", "b", "a" };
	struct ctprof_snapshot *s =
		parsed("{\"host_counters\":{\"net\":{\"b\":{\"x\":1},\"a\":{}},"
		       "\"numa\":{\"node0\":{\"x\":\"y\"}},\"block\":{\"vda\":{\"to_come\":2}},"
		       "\"vmstat\":{},\"cpu\":{\"cpu9\":{},\"cpu1\":{}},\"kernel\":{\"\":{}}},"
		       "\"captured_at_unix_ns\":1}");

	assert_int_equal(s->counters.count, array_length(kinds));
	for (size_t i = 0; i < array_length(kinds); i++) {
		assert_int_equal(s->counters.items[i].kind, kinds[i]);
		expect_text(name_text(s->counters.items[i].name), names[i]);
	}
	expect_text(name_text(s->counters.items[3].counts.items[0].key), "to_come");
	assert_int_equal(s->counters.items[3].counts.items[0].value, 2);
	assert_int_equal(s->counters.items[4].counts.items[0].value, 1);
	snapshot_destroy(s);
}

TEST(null_counters_are_none)
{
	struct ctprof_snapshot *s = parsed("{\"captured_at_unix_ns\":1,\"host_counters\":null,"
					   "\"users\":null}");

	assert_int_equal(s->counters.count, 0);
	assert_false(s->users.measured);
	snapshot_destroy(s);
}

static struct error *parse_counter_sets(size_t count, struct ctprof_snapshot **ret)
{
	static const char head[] = "{\"captured_at_unix_ns\":1,\"host_counters\":{\"block\":{";
	struct sunk json = { 0 };
	char member[32];
	struct error *err;

	expect_ok(sunk_write(&json, head, strlen(head)));
	for (size_t i = 0; i < count; i++) {
		int length =
			snprintf(member, sizeof(member), "%s\"%zu\":{\"x\":1}", i ? "," : "", i);

		expect_ok(sunk_write(&json, member, (size_t)length));
	}
	expect_ok(sunk_write(&json, "}}}", 3));
	err = parse_snapshot(sunk_text(&json), ret);
	array_deinit(&json);
	return err;
}

TEST(as_many_counters_as_is_sane)
{
	struct ctprof_snapshot *s = NULL;

	expect_ok(parse_counter_sets(SNAPSHOT_COUNTER_SETS_MAX, &s));
	assert_int_equal(s->counters.count, SNAPSHOT_COUNTER_SETS_MAX);
	assert_null(snapshot_add_counters(s, COUNTERS_NET, TEXT("one more")));
	snapshot_destroy(s);
	s = NULL;
	expect_error(parse_counter_sets(SNAPSHOT_COUNTER_SETS_MAX + 1, &s), "sets of counters");
	assert_null(s);
}

TEST(bytes_that_are_not_utf8_are_replaced_in_the_file_only)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = build_snapshot(), *back = NULL;
	struct ctprof_thread *t = build_thread(s, 1, 1, "p\xff", "cut \xe2\x82", "/\xc0\xaf");

	s->captured_at_unix_ns = reading_of(1);
	back = through_text(s);
	assert_string_equal(t->comm->bytes, "cut \xe2\x82");
	t = snapshot_thread(back, 0);
	assert_string_equal(t->pcomm->bytes, "p" UTF8_REPLACEMENT);
	assert_string_equal(t->comm->bytes, "cut " UTF8_REPLACEMENT UTF8_REPLACEMENT);
	assert_string_equal(t->cgroup->bytes, "/" UTF8_REPLACEMENT UTF8_REPLACEMENT);
}

/* The members the original insists on, in either of its ages. */
TEST(both_ages_of_the_original_find_their_members)
{
	static const char *const members[] = {
		"\"smaps_rollup_kb\":{",
		"\"smaps_rollup_kib\":{",
		"\"total_memory_kb\":",
		"\"total_memory_kib\":",
		"\"taskstats_measured\":",
		"\"cpu_delay_active\":",
		"\"delay_block_active\":",
		"\"xacct_active\":",
		"\"jemalloc_measured\":",
		"\"probe_summary\":null",
		"\"parse_summary\":null",
		"\"taskstats_summary\":null",
		"\"sched_ext\":null",
		"\"cgroup_stats\":{",
		"\"psi\":{",
		"\"state\":\"~\"",
		"\"cpu_affinity\":[]",
		"\"policy\":\"\"",
		"\"start_time_clock_ticks\":0",
	};
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = build_snapshot();
	struct sunk json = { 0 };

	build_thread(s, 1, 1, "p", "c", "/");
	s->host = arena_alloc(&s->arena, sizeof(*s->host));
	assert_non_null(s->host);
	s->host->total_memory_kib = reading_of(1);
	expect_ok(snapshot_write_json(s, sunk_write, &json));
	for (size_t i = 0; i < array_length(members); i++)
		if (!strstr(json.items, members[i]))
			fail_msg("no %s", members[i]);
	assert_null(strstr(json.items, "\"thread_count\":"));
	array_deinit(&json);
}

/* --- what is no snapshot --- */

TEST(bad_text)
{
	static const char *const bad[][2] = {
		{ "[]", "not a snapshot" },
		{ "42", "not a snapshot" },
		{ "{}", "captured_at_unix_ns" },
		{ "{\"threads\":[]}", "captured_at_unix_ns" },
		{ "{\"captured_at_unix_ns\":-1}", "captured_at_unix_ns" },
		{ "{\"captured_at_unix_ns\":\"1\"}", "captured_at_unix_ns" },
		{ "{\"captured_at_unix_ns\":1,\"captured_at_unix_ns\":2}", "duplicate" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":{}}", "'threads': expected an array" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":[1]}", "an object for each thread" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":[{}]}", "without tid" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":[{\"tid\":4294967296}]}", "'tid'" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":[{\"tid\":1,\"tgid\":1,"
		  "\"run_time_ns\":18446744073709551616}]}",
		  "'run_time_ns'" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":[{\"tid\":1,\"tgid\":1,"
		  "\"run_time_ns\":1.5}]}",
		  "'run_time_ns'" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":[{\"tid\":1,\"tgid\":1,"
		  "\"nice\":2147483648}]}",
		  "'nice'" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":[{\"tid\":1,\"tgid\":1,"
		  "\"state\":\"SS\"}]}",
		  "'state'" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":[{\"tid\":1,\"tgid\":1,"
		  "\"cpu_affinity\":[1,1]}]}",
		  "ascending" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":[{\"tid\":1,\"tgid\":1,"
		  "\"comm\":\"a\",\"comm\":\"b\"}]}",
		  "duplicate" },
		{ "{\"captured_at_unix_ns\":1,\"cgroup_stats\":{\"/a\":{},\"/a\":{}}}",
		  "duplicate" },
		{ "{\"captured_at_unix_ns\":1,\"ctprof\":{\"form\":999}}", "newer" },
		{ "{\"captured_at_unix_ns\":1,\"ctprof\":{\"form\":1}}", "names no fields" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":[{\"tid\":1,\"tgid\":1}],"
		  "\"ctprof\":{}}",
		  "must come before the members" },
		{ "{\"captured_at_unix_ns\":1,\"cgroup_stats\":{},\"ctprof\":{}}",
		  "must come before the members" },
		{ "{\"captured_at_unix_ns\":1,\"psi\":{},\"ctprof\":{}}",
		  "must come before the members" },
		{ "{\"captured_at_unix_ns\":1,\"sched_ext\":{},\"ctprof\":{}}",
		  "must come before the members" },
		{ "{\"captured_at_unix_ns\":1,\"threads\":[{\"tid\":1,\"tgid\":1,"
		  "\"smaps_rollup_kib\":{\"Rss\":1,\"Pss\":2,\"Rss\":3}}]}",
		  "duplicate" },
		{ "{\"captured_at_unix_ns\":1,\"host\":{\"sched_tunables\":"
		  "{\"a\":\"1\",\"a\":\"2\"}}}",
		  "duplicate" },
		{ "{\"captured_at_unix_ns\":1,\"host_counters\":[]}",
		  "'host_counters': expected an object" },
		{ "{\"captured_at_unix_ns\":1,\"host_counters\":{\"cpu\":1}}",
		  "'cpu': expected an object" },
		{ "{\"captured_at_unix_ns\":1,\"host_counters\":{\"cpu\":{\"cpu0\":1}}}",
		  "an object for each set" },
		{ "{\"captured_at_unix_ns\":1,\"host_counters\":{\"cpu\":{\"cpu0\":{\"x\":-1}}}}",
		  "'x'" },
		{ "{\"captured_at_unix_ns\":1,\"host_counters\":{\"cpu\":{\"a\":{\"x\":1,\"x\":1}}}"
		  "}",
		  "duplicate" },
		{ "{\"captured_at_unix_ns\":1,\"host_counters\":{\"cpu\":{\"a\":{},\"b\":{},\"a\":{"
		  "}}}}",
		  "duplicate" },
		{ "{\"captured_at_unix_ns\":1,\"host_counters\":{\"cpu\":{},\"net\":{},\"cpu\":{}}"
		  "}",
		  "duplicate" },
		{ "{\"captured_at_unix_ns\":1,\"users\":[]}", "'users': expected an object" },
		{ "{\"captured_at_unix_ns\":1,\"users\":{\"0\":0}}", "'0'" },
		{ "{\"captured_at_unix_ns\":1,\"users\":{\"0\":\"a\",\"0\":\"b\"}}", "duplicate" },
		{ "{\"captured_at_unix_ns\":1", "" },
	};

	for (size_t i = 0; i < array_length(bad); i++) {
		struct ctprof_snapshot *s = NULL;

		expect_error(parse_snapshot(text_of(bad[i][0]), &s), bad[i][1]);
		assert_null(s);
	}
}

TEST(unknown_members_are_passed_over)
{
	struct ctprof_snapshot *s = parsed("{\"later\":{\"x\":[1]},\"captured_at_unix_ns\":1,"
					   "\"threads\":[{\"tid\":1,\"tgid\":1,\"new\":[{}]}]}");

	assert_int_equal(s->threads.count, 1);
	snapshot_destroy(s);
}

/* A file of another version: its list of fields says what its bits mean. */
TEST(measured_bits_go_by_the_files_own_list)
{
	struct ctprof_snapshot *s = parsed(
		"{\"captured_at_unix_ns\":1,\"ctprof\":{\"form\":1,\"version\":\"9\",\"fields\":"
		"{\"threads\":[\"a_metric_to_come\",\"timeslices\",\"run_time_ns\"]}},"
		"\"threads\":[{\"tid\":1,\"tgid\":1,\"run_time_ns\":5,\"timeslices\":6,"
		"\"measured\":\"5\"},{\"tid\":2,\"tgid\":1,\"run_time_ns\":7}]}");
	const struct ctprof_thread *first = snapshot_thread(s, 0), *second = snapshot_thread(s, 1);

	assert_int_equal(s->origin, ORIGIN_CTPROF);
	assert_true(is_measured(first, METRIC_run_time_ns));
	assert_false(is_measured(first, METRIC_timeslices));
	/* where our own form says nothing, nothing was measured */
	assert_false(is_measured(second, METRIC_run_time_ns));
	snapshot_destroy(s);
}

TEST(errors_of_files_name_them)
{
	struct ctprof_snapshot *s = NULL;
	struct scratch scratch;

	scratch_init(&scratch);
	expect_error(snapshot_load(scratch_path(&scratch, "none"), &s),
		     "/none: No such file or directory");
	scratch_write(&scratch, "text", TEXT("text"));
	expect_error(snapshot_load(scratch_path(&scratch, "text"), &s), "/text: at offset 0: ");
	scratch_write(&scratch, "empty", TEXT(""));
	expect_error(snapshot_load(scratch_path(&scratch, "empty"), &s), "/empty: at offset 0: ");
	expect_error(snapshot_load(scratch.path, &s), "no captures in this directory");
	assert_null(s);
	scratch_deinit(&scratch);
}

TEST(saving_to_a_full_device)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = full_snapshot(3, 3000);

	expect_error(snapshot_save(s, "/dev/full"), "/dev/full: No space left on device");
}

UNIT_TESTS(cmocka_unit_test(a_written_snapshot_is_read_unchanged),
	   cmocka_unit_test(the_same_through_a_file),
	   cmocka_unit_test(the_parts_of_a_file_are_its_text),
	   cmocka_unit_test(threads_that_repeat_what_others_have),
	   cmocka_unit_test(threads_with_long_names_between_others),
	   cmocka_unit_test(packed_bytes_are_those_of_the_file),
	   cmocka_unit_test(the_largest_number_in_every_metric),
	   cmocka_unit_test(nothing_but_the_moment), cmocka_unit_test(empty_lists_of_names),
	   cmocka_unit_test(counters_in_another_order), cmocka_unit_test(null_counters_are_none),
	   cmocka_unit_test(as_many_counters_as_is_sane),
	   cmocka_unit_test(bytes_that_are_not_utf8_are_replaced_in_the_file_only),
	   cmocka_unit_test(both_ages_of_the_original_find_their_members),
	   cmocka_unit_test(bad_text), cmocka_unit_test(unknown_members_are_passed_over),
	   cmocka_unit_test(measured_bits_go_by_the_files_own_list),
	   cmocka_unit_test(errors_of_files_name_them), cmocka_unit_test(saving_to_a_full_device))
