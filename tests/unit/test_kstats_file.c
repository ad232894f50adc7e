/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/kstats_scene.h"

static struct error *load_text(struct text text, struct kstats_tables *ret)
{
	struct scratch scratch;
	struct error *err;

	*ret = (struct kstats_tables){ 0 };
	scratch_init(&scratch);
	scratch_write(&scratch, "file", text);
	err = kstats_file_load(scratch_path(&scratch, "file"), ret);
	scratch_deinit(&scratch);
	return err;
}

static void add(struct kstats_tables *tables, struct kstats_table *table)
{
	assert_true(array_push(tables, table));
}

/* Written and read, all are the same. */
static void expect_round_trip(const struct kstats_tables *tables)
{
	struct kstats_tables back = { 0 };
	struct scratch scratch;

	scratch_init(&scratch);
	expect_ok(kstats_file_save(scratch_path(&scratch, "saved"), tables));
	assert_int_equal(scratch_count(&scratch), 1);
	expect_ok(kstats_file_load(scratch_path(&scratch, "saved"), &back));
	assert_int_equal(back.count, tables->count);
	for (size_t i = 0; i < back.count; i++)
		expect_same_kstats(back.items[i], tables->items[i]);
	kstats_tables_clear(&back);
	scratch_deinit(&scratch);
}

/* --- what is written --- */

static struct kstats_table *full_table(void)
{
	struct kstats_table *table = scene_kstats("vfs_read", 5);
	uint64_t stream = 1;

	scene_kstats_word(&table->host, "host \"with\" quotes \\ and\nlines");
	scene_kstats_word(&table->recorder, "bpf");
	scene_kstats_word(&table->start, "uprobe:/lib/é.so:f<int>(char)");
	scene_kstats_word(&table->end, "");
	scene_kstats_word(&table->scope.key, "arg1,arg3");
	scene_kstats_word(&table->scope.only[KSTATS_FILTER_PID], "4242");
	scene_kstats_word(&table->scope.only[KSTATS_FILTER_COMM], "a \"b\",\n");
	scene_kstats_word(&table->scope.only[KSTATS_FILTER_CPUS], "0-3,7");
	table->by = KSTATS_BY_PROCESS;
	table->cpus = UINT32_MAX;
	table->is_active = true;
	table->taken_ns = UINT64_MAX;
	table->began_ns = 7;
	table->recorded_ns = UINT64_MAX;
	scene_kstats_word(&table->labels, "a=b");
	scene_kstats_word(&table->boot, "b\"oot");
	table->overhead_ns = 90;
	scene_kstats_word(&table->instance, "4242");
	table->earlier = 5;
	table->earlier_known = true;
	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss += 2) {
		table->losses_known |= 1u << loss;
		table->losses[loss] = UINT64_MAX - loss;
	}
	for (unsigned i = 0; i < 1000; i++)
		scene_kstats_record(table, i % 4, i % 4 ? "a label" : NULL,
				    scene_kstats_value(&stream));
	/* Processes that had the same number. */
	scene_kstats_record_born(table, 4, 1000, "a label", 5);
	scene_kstats_record_born(table, 4, UINT64_MAX, "a label", 6);
	scene_kstats_record(table, UINT64_MAX, "", 0);
	scene_kstats_record(table, UINT64_MAX, NULL, UINT64_MAX);
	return table;
}

TEST(everything_comes_back)
{
	struct kstats_tables tables = { 0 };

	expect_round_trip(&tables);
	add(&tables, full_table());
	add(&tables, scene_kstats("empty", 0));
	add(&tables, full_table());
	expect_round_trip(&tables);
	kstats_tables_clear(&tables);
}

static struct kstats_table *add_instance(struct kstats_tables *tables, const char *instance)
{
	struct kstats_table *table = scene_kstats("m", 3);

	scene_kstats_word(&table->instance, instance);
	add(tables, table);
	return table;
}

/* The same process, or the only one that has a metric of that name. */
TEST(runs_match)
{
	struct kstats_tables before = { 0 }, after = { 0 };
	struct kstats_table *old = add_instance(&before, "1"), *new = add_instance(&after, "2"),
			    *same;

	assert_ptr_equal(kstats_tables_match(&before, &after, new), old);
	same = add_instance(&after, "1");
	assert_ptr_equal(kstats_tables_match(&before, &after, same), old);
	assert_null(kstats_tables_match(&before, &after, new));
	assert_ptr_equal(kstats_tables_match(&after, &before, old), same);
	scene_kstats_word(&old->name, "other");
	assert_null(kstats_tables_match(&before, &after, same));
	kstats_tables_clear(&before);
	kstats_tables_clear(&after);
}

/* As earlier versions wrote them. */
TEST(names_with_a_process)
{
	static const struct {
		const char *name, *wanted, *instance;
	} names[] = {
		{ "12:m", "m", "12" }, { "m", "m", NULL },       { "12:", "12:", NULL },
		{ ":m", ":m", NULL },  { "1a:m", "1a:m", NULL }, { "1:2:m", "2:m", "1" },
	};

	for (size_t i = 0; i < array_length(names); i++) {
		struct kstats_tables tables = { 0 }, back = { 0 };
		struct scratch scratch;

		scratch_init(&scratch);
		add(&tables, scene_kstats(names[i].name, 0));
		expect_ok(kstats_file_save(scratch_path(&scratch, "saved"), &tables));
		expect_ok(kstats_file_load(scratch_path(&scratch, "saved"), &back));
		assert_string_equal(back.items[0]->name, names[i].wanted);
		assert_int_equal(!back.items[0]->instance, !names[i].instance);
		if (names[i].instance)
			assert_string_equal(back.items[0]->instance, names[i].instance);
		kstats_tables_clear(&tables);
		kstats_tables_clear(&back);
		scratch_deinit(&scratch);
	}
}

TEST(all_bits_and_kinds_come_back)
{
	struct kstats_tables tables = { 0 };
	uint64_t stream = 2;

	for (unsigned bits = 0; bits <= BUCKET_FRAC_BITS_MAX; bits++)
		for (unsigned by = 0; by < KSTATS_BY_COUNT; by++) {
			struct kstats_table *table = scene_kstats("m", bits);

			table->by = by;
			for (unsigned i = 0; i < 200; i++)
				scene_kstats_record(table, next_random(&stream) % 9, NULL,
						    scene_kstats_value(&stream));
			add(&tables, table);
		}
	expect_round_trip(&tables);
	kstats_tables_clear(&tables);
}

/* A label that is no text: a process may be called anything. */
TEST(labels_of_any_bytes)
{
	struct kstats_tables tables = { 0 }, back = { 0 };
	struct scratch scratch;

	add(&tables, scene_kstats("x", 3));
	scene_kstats_record(tables.items[0], 1, "\xff\x01\x80", 5);
	scratch_init(&scratch);
	expect_ok(kstats_file_save(scratch_path(&scratch, "saved"), &tables));
	expect_ok(kstats_file_load(scratch_path(&scratch, "saved"), &back));
	assert_int_equal(back.items[0]->rows.count, 1);
	assert_int_equal(back.items[0]->rows.items[0].slots[5].count, 1);
	kstats_tables_clear(&tables);
	kstats_tables_clear(&back);
	scratch_deinit(&scratch);
}

/* Several files into one list, as `merge` reads them. */
TEST(files_add_up)
{
	static const char text[] =
		"{\"format\":\"ctprof-kstats\",\"version\":1,\"metrics\":[{\"name\":\"m\","
		"\"bits\":3,\"rows\":[]}]}";
	struct kstats_tables tables = { 0 };
	struct scratch scratch;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", text_of(text));
	for (unsigned i = 1; i <= 3; i++) {
		expect_ok(kstats_file_load(scratch_path(&scratch, "file"), &tables));
		assert_int_equal(tables.count, i);
	}
	expect_error(kstats_file_load(scratch_path(&scratch, "none"), &tables), "none: No such");
	assert_int_equal(tables.count, 3);
	kstats_tables_clear(&tables);
	scratch_deinit(&scratch);
}

/* --- what others write --- */

#define FILE_OF(metrics) "{\"format\":\"ctprof-kstats\",\"version\":1,\"metrics\":[" metrics "]}"
#define METRIC(more)     FILE_OF("{\"name\":\"m\",\"bits\":3," more "}")
#define ROW(row)         METRIC("\"rows\":[" row "]")
#define SLOTS(slots)     ROW("{\"id\":1,\"slots\":[" slots "]}")

TEST(members_of_later_versions_are_skipped)
{
	struct kstats_tables tables;

	expect_ok(load_text(
		TEXT("{\"metrics\":[{\"later\":[[{}]],\"name\":\"m\",\"bits\":3,\"losses\":{"
		     "\"later\":"
		     "{\"a\":1},\"full\":7},\"only\":{\"later\":[7],\"pid\":\"7\"},\"host\":null,"
		     "\"rows\":[{\"slots\":[[8,2,17],[3,1,3]],"
		     "\"later\":null,\"id\":4}]}],\"version\":1,\"later\":1,"
		     "\"format\":\"ctprof-kstats\"}"),
		&tables));
	assert_int_equal(tables.count, 1);
	assert_int_equal(tables.items[0]->losses_known, 1u << KSTATS_LOSS_full);
	assert_int_equal(tables.items[0]->losses[KSTATS_LOSS_full], 7);
	assert_string_equal(tables.items[0]->unit, "");
	assert_string_equal(tables.items[0]->scope.only[KSTATS_FILTER_PID], "7");
	/* What earlier versions did not write. */
	assert_null(tables.items[0]->scope.key);
	assert_int_equal(tables.items[0]->rows.items[0].id, 4);
	assert_int_equal(tables.items[0]->rows.items[0].slots[8].count, 2);
	assert_int_equal(tables.items[0]->rows.items[0].slots[8].sum, 17);
	assert_int_equal(tables.items[0]->rows.items[0].slots[3].count, 1);
	kstats_tables_clear(&tables);
}

static const struct {
	const char *text, *message;
} hostile[] = {
	{ "", "the file is empty" },
	{ " ", "" },
	{ "{}", "not a kstats file" },
	{ "[]", "not a kstats file" },
	{ "7", "not a kstats file" },
	{ "{\"format\":\"ctprof-profile\"}", "not a kstats file" },
	{ "{\"format\":\"ctprof-kstats\",\"version\":1}", "not a kstats file" },
	{ "{\"format\":\"ctprof-kstats\",\"metrics\":[]}", "not a kstats file" },
	{ "{\"version\":1,\"metrics\":[]}", "not a kstats file" },
	{ "{\"format\":\"ctprof-kstats\",\"version\":2,\"metrics\":[]}", "reads version 1" },
	{ "{\"format\":\"ctprof-kstats\",\"version\":\"1\",\"metrics\":[]}", "'version'" },
	{ "{\"format\":[],\"version\":1,\"metrics\":[]}", "'format'" },
	{ "{\"format\":\"ctprof-kstats\",\"version\":1,\"metrics\":{}}", "an array of metrics" },
	{ FILE_OF("") "x", "" },
	{ FILE_OF("7"), "an array of metrics" },
	{ FILE_OF("{}"), "a metric has no name, no bits or no rows" },
	{ FILE_OF("{\"name\":\"m\",\"rows\":[]}"), "'bits' must stand before 'rows'" },
	{ FILE_OF("{\"name\":\"m\",\"rows\":[],\"bits\":3}"), "'bits' must stand before 'rows'" },
	{ FILE_OF("{\"bits\":3,\"rows\":[]}"), "a metric has no name" },
	{ FILE_OF("{\"name\":\"\",\"bits\":3,\"rows\":[]}"), "a metric has no name" },
	{ FILE_OF("{\"name\":null,\"bits\":3,\"rows\":[]}"), "a metric has no name" },
	{ FILE_OF("{\"name\":7,\"bits\":3,\"rows\":[]}"), "'name'" },
	{ FILE_OF("{\"name\":\"a\\u0000b\",\"bits\":3,\"rows\":[]}"), "'name'" },
	{ FILE_OF("{\"name\":\"m\",\"bits\":6,\"rows\":[]}"),
	  "'bits': expected an integer from 0 to 5" },
	{ FILE_OF("{\"name\":\"m\",\"bits\":4294967299,\"rows\":[]}"), "'bits'" },
	{ FILE_OF("{\"name\":\"m\",\"bits\":-1,\"rows\":[]}"), "'bits'" },
	{ FILE_OF("{\"name\":\"m\",\"bits\":3,\"bits\":3,\"rows\":[]}"), "bits" },
	{ METRIC("\"rows\":[],\"bits\":1"), "" },
	{ METRIC("\"rows\":[],\"rows\":[]"), "rows" },
	{ METRIC("\"name\":\"n\",\"rows\":[]"), "name" },
	{ METRIC("\"rows\":{}"), "an array of rows" },
	{ METRIC("\"unit\":7,\"rows\":[]"), "'unit'" },
	{ METRIC("\"by\":\"moon\",\"rows\":[]"), "what rows are by" },
	{ METRIC("\"by\":7,\"rows\":[]"), "'by'" },
	{ METRIC("\"cpus\":-4,\"rows\":[]"), "'cpus'" },
	{ METRIC("\"cpus\":4294967296,\"rows\":[]"), "'cpus'" },
	{ METRIC("\"active\":1,\"rows\":[]"), "'active'" },
	{ METRIC("\"taken_ns\":1e9,\"rows\":[]"), "'taken_ns'" },
	{ METRIC("\"losses\":[],\"rows\":[]"), "'losses': expected an object" },
	{ METRIC("\"losses\":{\"full\":-1},\"rows\":[]"), "'full'" },
	{ METRIC("\"losses\":{\"full\":1,\"full\":2},\"rows\":[]"), "duplicate 'full'" },
	{ METRIC("\"key\":7,\"rows\":[]"), "'key'" },
	{ METRIC("\"key\":\"cpu\",\"key\":\"cpu\",\"rows\":[]"), "key" },
	{ METRIC("\"only\":[],\"rows\":[]"), "'only': expected an object" },
	{ METRIC("\"only\":{\"pid\":7},\"rows\":[]"), "'pid'" },
	{ METRIC("\"only\":{\"comm\":\"a\\u0000b\"},\"rows\":[]"), "'comm'" },
	{ METRIC("\"name2\":1"), "no rows" },
	{ ROW("7"), "an array of rows" },
	{ ROW("{}"), "a row has no id or no slots" },
	{ ROW("{\"id\":1}"), "a row has no id or no slots" },
	{ ROW("{\"slots\":[]}"), "a row has no id or no slots" },
	{ ROW("{\"id\":1,\"slots\":[[1,1,1]]},{\"slots\":[]}"), "a row has no id" },
	{ ROW("{\"id\":1,\"slots\":[]},{\"id\":2}"), "a row has no id or no slots" },
	{ ROW("{\"id\":1,\"slots\":[[1,1,1]]},{\"id\":1,\"slots\":[]}"), "duplicate row" },
	{ ROW("{\"id\":1,\"slots\":[]},{\"id\":1,\"label\":\"\",\"slots\":[]}"), "duplicate row" },
	{ ROW("{\"id\":1,\"label\":\"a\",\"slots\":[]},{\"id\":1,\"label\":\"a\",\"slots\":[]}"),
	  "duplicate row" },
	{ ROW("{\"id\":1,\"id\":1,\"slots\":[]}"), "id" },
	{ ROW("{\"id\":1,\"slots\":[[1,1,1]],\"slots\":[]}"), "slots" },
	{ ROW("{\"id\":1,\"label\":\"a\",\"label\":\"b\",\"slots\":[]}"), "label" },
	{ ROW("{\"id\":1,\"label\":7,\"slots\":[]}"), "'label'" },
	{ ROW("{\"id\":-1,\"slots\":[]}"), "'id'" },
	{ ROW("{\"id\":18446744073709551616,\"slots\":[]}"), "'id'" },
	{ ROW("{\"id\":1,\"slots\":{}}"), "an array of slots" },
	{ SLOTS("7"), "an array of slots" },
	{ SLOTS("[]"), "slot, count and sum" },
	{ SLOTS("[1,1]"), "slot, count and sum" },
	{ SLOTS("[1,1,1,1]"), "slot, count and sum" },
	{ SLOTS("[1,1,[1]]"), "'slots'" },
	{ SLOTS("[1,1,-1]"), "" },
	{ SLOTS("[1,0,0]"), "slot, count and sum" },
	{ SLOTS("[1,0,9]"), "slot, count and sum" },
	{ SLOTS("[496,1,1]"), "slot, count and sum" },
	{ SLOTS("[497,1,1]"), "slot, count and sum" },
	{ SLOTS("[4294967297,1,1]"), "slot, count and sum" },
	{ SLOTS("[18446744073709551615,1,1]"), "slot, count and sum" },
	{ SLOTS("[1,1,1],[2,1,1],[1,1,1]"), "duplicate slot" },
	{ SLOTS("[1,18446744073709551615,1],[2,1,1]"), "more values than can be counted" },
	{ ROW("{\"id\":1,\"slots\":[[1,18446744073709551615,1]]},{\"id\":2,\"slots\":[[1,1,1]]}"),
	  "more values than can be counted" },
};

TEST(inconsistent_files)
{
	for (size_t i = 0; i < array_length(hostile); i++) {
		struct kstats_tables tables;
		struct error *err = load_text(text_of(hostile[i].text), &tables);

		if (!err || !strstr(err->message, hostile[i].message))
			fail_msg("%s: %s", hostile[i].text, err ? err->message : "taken");
		error_destroy(err);
		kstats_tables_clear(&tables);
	}
}

/* The largest that fit: each metric has a count of its own, the last slot that values reach. */
TEST(the_largest_valid_files)
{
	struct kstats_tables tables;

	expect_ok(load_text(TEXT(SLOTS("[495,18446744073709551615,1]")), &tables));
	assert_true(tables.items[0]->rows.items[0].slots[495].count == UINT64_MAX);
	kstats_tables_clear(&tables);
	expect_ok(load_text(TEXT(FILE_OF("{\"name\":\"a\",\"bits\":3,\"rows\":[{\"id\":1,\"slots\":"
					 "[[1,18446744073709551615,1]]}]},{\"name\":\"b\",\"bits\":"
					 "0,\"rows\":[{\"id\":1,\"slots\":[[64,1,1]]}]}")),
			    &tables));
	assert_int_equal(tables.count, 2);
	kstats_tables_clear(&tables);
}

/* --- cut off, broken --- */

static void expect_no_part_of(struct text whole)
{
	for (size_t length = 0; length < whole.length; length++) {
		struct kstats_tables tables;
		struct error *err = load_text((struct text){ whole.bytes, length }, &tables);

		assert_non_null(err);
		error_destroy(err);
		kstats_tables_clear(&tables);
	}
}

TEST(cut_off)
{
	static const char text[] = ROW("{\"id\":1,\"label\":\"x\",\"slots\":[[1,2,3],[4,5,6]]},"
				       "{\"id\":2,\"slots\":[]}");
	struct kstats_tables tables = { 0 };
	struct scratch scratch;
	char packed[4096];
	FILE *file;

	expect_no_part_of(text_of(text));
	add(&tables, full_table());
	while (tables.items[0]->rows.count > 1) {
		free(tables.items[0]->rows.items[--tables.items[0]->rows.count].label);
		free(tables.items[0]->rows.items[tables.items[0]->rows.count].slots);
	}
	scratch_init(&scratch);
	expect_ok(kstats_file_save(scratch_path(&scratch, "saved"), &tables));
	file = fopen(scratch_path(&scratch, "saved"), "re");
	assert_non_null(file);
	expect_no_part_of((struct text){ packed, fread(packed, 1, sizeof(packed), file) });
	fclose(file);
	scratch_deinit(&scratch);
	kstats_tables_clear(&tables);
}

/* --- bounds --- */

/* A file of `count` times the piece, with its number in it. */
static struct error *load_many(unsigned count, const char *head, const char *piece,
			       const char *tail, struct kstats_tables *ret)
{
	size_t room = 200 + count * (strlen(piece) + 30), length;
	char *text = malloc(room);
	struct error *err;

	assert_non_null(text);
	length = (size_t)snprintf(text, room, "%s", head);
	for (unsigned i = 0; i < count; i++) {
		length += (size_t)snprintf(text + length, room - length, "%s{\"id\":%u,%s",
					   i ? "," : "", i, piece);
	}
	length += (size_t)snprintf(text + length, room - length, "%s", tail);
	err = load_text((struct text){ text, length }, ret);
	free(text);
	return err;
}

#define HEAD "{\"format\":\"ctprof-kstats\",\"version\":1,\"metrics\":["

TEST(not_too_many_rows)
{
	static const char head[] = HEAD "{\"name\":\"m\",\"bits\":5,\"rows\":[";
	struct kstats_tables tables;
	const unsigned most = KSTATS_FILE_SLOTS_MAX / BUCKET_SLOTS(BUCKET_FRAC_BITS_MAX);

	expect_ok(load_many(most, head, "\"slots\":[[1,1,1]]}", "]}]}", &tables));
	assert_int_equal(tables.items[0]->rows.count, most);
	kstats_tables_clear(&tables);
	expect_error(load_many(most + 1, head, "\"slots\":[]}", "]}]}", &tables),
		     "more than 33554432 slots");
	kstats_tables_clear(&tables);
}

TEST(not_too_many_metrics)
{
	static const char metric[] = "\"name\":\"m\",\"bits\":0,\"rows\":[]}";
	struct kstats_tables tables;

	expect_ok(load_many(KSTATS_FILE_METRICS_MAX, HEAD, metric, "]}", &tables));
	assert_int_equal(tables.count, KSTATS_FILE_METRICS_MAX);
	kstats_tables_clear(&tables);
	expect_error(load_many(KSTATS_FILE_METRICS_MAX + 1, HEAD, metric, "]}", &tables),
		     "more than 16384 metrics");
	kstats_tables_clear(&tables);
}

TEST(not_too_many_names)
{
	enum { LENGTH = 1000000 };
	char *piece = malloc(LENGTH + 100);
	struct kstats_tables tables;

	assert_non_null(piece);
	strcpy(piece, "\"slots\":[],\"label\":\"");
	memset(piece + 20, 'x', LENGTH);
	strcpy(piece + 20 + LENGTH, "\"}");
	expect_ok(load_many(16, HEAD "{\"name\":\"m\",\"bits\":0,\"rows\":[", piece, "]}]}",
			    &tables));
	assert_int_equal(strlen(tables.items[0]->rows.items[15].label), LENGTH);
	kstats_tables_clear(&tables);
	expect_error(
		load_many(17, HEAD "{\"name\":\"m\",\"bits\":0,\"rows\":[", piece, "]}]}", &tables),
		"more than 16777216 bytes of names");
	kstats_tables_clear(&tables);
	free(piece);
}

UNIT_TESTS(cmocka_unit_test(everything_comes_back), cmocka_unit_test(runs_match),
	   cmocka_unit_test(names_with_a_process), cmocka_unit_test(all_bits_and_kinds_come_back),
	   cmocka_unit_test(labels_of_any_bytes), cmocka_unit_test(files_add_up),
	   cmocka_unit_test(members_of_later_versions_are_skipped),
	   cmocka_unit_test(inconsistent_files), cmocka_unit_test(the_largest_valid_files),
	   cmocka_unit_test(cut_off), cmocka_unit_test(not_too_many_rows),
	   cmocka_unit_test(not_too_many_metrics), cmocka_unit_test(not_too_many_names))
