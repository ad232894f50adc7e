/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/module_recorder.h"
#include "kstats/module_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "unit/unit.h"

static const char raw[] =
	"name vfs_read\nbits 5\ncpus 4\nstate active\ncount 5\nunit ns\n"
	"start vfs_open\nend vfs_read\noverhead 90\nmissed 7\nunmatched 1\nearlier 4\nlater word\n"
	"slot 55 cpu 0 count 3 sum 166\nslot 55 cpu 3 count 1 sum 55\n"
	"slot 1919 cpu 3 count 1 sum 18446744073709551615\n";

TEST(raw_text_is_read)
{
	struct kstats_table *table;
	struct text text = guarded(raw, sizeof(raw) - 1);

	expect_ok(kstats_module_parse(text, &table));
	unguard(text);
	assert_string_equal(table->name, "vfs_read");
	assert_string_equal(table->unit, "ns");
	assert_string_equal(table->start, "vfs_open");
	assert_string_equal(table->end, "vfs_read");
	assert_string_equal(table->scope.key, "cpu");
	assert_int_equal(table->frac_bits, 5);
	assert_int_equal(table->cpus, 4);
	assert_true(table->is_active);
	assert_int_equal(table->overhead_ns, 90);
	assert_int_equal(table->losses[KSTATS_LOSS_missed], 7);
	assert_int_equal(table->earlier, 4);
	assert_true(table->earlier_known);
	assert_int_equal(table->losses_known, 1 << KSTATS_LOSS_missed | 1 << KSTATS_LOSS_unmatched);
	assert_int_equal(table->rows.count, 2);
	assert_int_equal(table->rows.items[0].slots[55].sum, 166);
	assert_true(table->rows.items[1].slots[1919].sum == UINT64_MAX);
	kstats_table_destroy(table);
}

TEST(invalid_raw_text)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "not a metric" },
		{ "bits 3\n", "not a metric" },
		{ "name a\nbits 6\n", "not a metric" },
		{ "name a\nbits x\n", "malformed kstats line: 'bits x'" },
		{ "name\n", "malformed kstats line" },
		{ "name a\nmissed -1\n", "'missed -1'" },
		{ "name a\nbits 3\ncpus 1\nslot 497 cpu 0 count 1 sum 1\n", "'slot 497 cpu 0" },
		{ "name a\nbits 3\ncpus 1\nslot 1 cpu 1 count 1 sum 1\n", "'slot 1 cpu 1" },
		{ "name a\nbits 3\ncpus 1\nslot 1 cpu 0 count 1\n", "'slot 1 cpu 0 count 1'" },
		{ "name a\nbits 3\ncpus 1\nslot 1 cpu 0 count 1 sum 1\nbits 4\n", "'bits 4'" },
		{ "name a\nbits 3\ncpus 2\nslot 1 cpu 0 count 18446744073709551615 sum 1\n"
		  "slot 1 cpu 1 count 1 sum 1\n",
		  "too many values: counter overflow" },
	};
	struct kstats_table *table;

	for (size_t i = 0; i < array_length(cases); i++)
		expect_error(kstats_module_parse(text_of(cases[i].text), &table), cases[i].says);
}

/* --- at a directory that is made up: what is written to its files stays there --- */

static void place_init(struct scratch *place, bool is_ours)
{
	scratch_init(place);
	scratch_write(place, "_control", TEXT(""));
	if (is_ours) {
		assert_int_equal(mkdirat(place->dir, "_raw", 0700), 0);
		scratch_write(place, "_raw/vfs_read", text_of(raw));
		scratch_write(place, "_raw/api",
			      TEXT("name api\nbits 3\ncpus 2\nstate stopped\ncount 0\n"));
		scratch_write(place, "api", TEXT(""));
	}
	scratch_write(place, "vfs_read",
		      TEXT("slot 55  CPU  0    count        2 avg      495 p 1.000000\n"
			   "slot 55  CPUS 28   count        2 avg      495 p 1.000000\n"));
}

static void expect_written(const struct scratch *place, const char *file, const char *wanted)
{
	char path[128], bytes[512] = "";
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", place->path, file);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_true(fread(bytes, 1, sizeof(bytes) - 1, in) >= strlen(wanted));
	fclose(in);
	assert_memory_equal(bytes, wanted, strlen(wanted));
}

TEST(metrics_are_read_and_listed)
{
	struct kstats_entries entries = { 0 };
	struct kstats_table *table;
	struct scratch place;

	place_init(&place, true);
	expect_ok(kstats_module_read(place.dir, "vfs_read", &table));
	assert_int_equal(table->frac_bits, 5);
	assert_string_equal(table->recorder, "module");
	assert_non_null(table->host);
	assert_true(table->taken_ns > 0);
	kstats_table_destroy(table);
	expect_ok(kstats_module_list(place.dir, &entries));
	assert_int_equal(entries.count, 2);
	for (size_t i = 0; i < entries.count; i++) {
		bool is_api = strcmp(entries.items[i].name, "api") == 0;

		assert_int_equal(entries.items[i].count, is_api ? 0 : 5);
		assert_int_equal(entries.items[i].is_active, !is_api);
		assert_int_equal(!entries.items[i].start, is_api);
	}
	kstats_entries_clear(&entries);
	expect_error(kstats_module_read(place.dir, "none", &table), "no metric 'none'");
	expect_error(kstats_module_read(place.dir, "../etc", &table), "invalid metric name");
	expect_error(kstats_module_read(place.dir, "_control", &table), "invalid metric name");
	scratch_deinit(&place);
}

/* One that is of another form hides none of the others. */
TEST(strange_ones_are_listed)
{
	struct kstats_entries entries = { 0 };
	struct scratch place;
	unsigned strange = 0;

	place_init(&place, true);
	scratch_write(&place, "_raw/odd", TEXT("nothing that we know\n"));
	expect_ok(kstats_module_list(place.dir, &entries));
	assert_int_equal(entries.count, 3);
	for (size_t i = 0; i < entries.count; i++) {
		if (strcmp(entries.items[i].name, "odd") != 0)
			continue;
		strange++;
		assert_false(entries.items[i].is_active);
		assert_null(entries.items[i].start);
		assert_non_null(entries.items[i].how);
		assert_true(isnan(entries.items[i].rate));
	}
	assert_int_equal(strange, 1);
	kstats_entries_clear(&entries);
	expect_ok(kstats_module_remove(place.dir, "odd"));
	expect_written(&place, "_control", "remove odd\n");
	scratch_deinit(&place);
}

/* A kstats of another's has the text only. */
TEST(others_are_read_and_listed)
{
	struct kstats_entries entries = { 0 };
	struct kstats_table *table;
	struct scratch place;

	place_init(&place, false);
	expect_ok(kstats_module_read(place.dir, "vfs_read", &table));
	assert_int_equal(table->frac_bits, 3);
	assert_int_equal(table->cpus, 28);
	kstats_table_destroy(table);
	expect_ok(kstats_module_list(place.dir, &entries));
	assert_int_equal(entries.count, 1);
	assert_string_equal(entries.items[0].name, "vfs_read");
	assert_int_equal(entries.items[0].count, 2);
	kstats_entries_clear(&entries);
	scratch_deinit(&place);
}

TEST(words_are_written)
{
	char name[] = "a", start[] = "x", end[] = "y";
	struct kstats_spec spec = { .name = name, .start = start, .end = end, .frac_bits = 5 };
	struct scratch place;

	place_init(&place, true);
	expect_ok(kstats_module_trace(place.dir, &spec));
	expect_written(&place, "_control", "trace a bits 5 start x end y\n");
	spec.end = NULL;
	expect_ok(kstats_module_trace(place.dir, &spec));
	expect_written(&place, "_control", "trace a bits 5 start x\n");
	expect_ok(kstats_module_remove(place.dir, "GAP-a"));
	expect_written(&place, "_control", "remove GAP-a\n");
	expect_ok(kstats_module_command(place.dir, "api", KSTATS_RESET));
	expect_written(&place, "api", "RESET\n");
	expect_error(kstats_module_command(place.dir, "none", KSTATS_STOP), "no metric 'none'");
	expect_error(kstats_module_remove(place.dir, "*"), "invalid metric name");
	spec.tgid = 1;
	expect_error(kstats_module_trace(place.dir, &spec), "--via bpf");
	spec.tgid = 0;
	spec.by = KSTATS_BY_PROCESS;
	expect_error(kstats_module_trace(place.dir, &spec), "by CPU");
	spec.by = KSTATS_BY_CPU;
	spec.key = KSTATS_KEY_ARGUMENT;
	expect_error(kstats_module_trace(place.dir, &spec), "of the same CPU");
	scratch_deinit(&place);
}

UNIT_TESTS(cmocka_unit_test(raw_text_is_read), cmocka_unit_test(invalid_raw_text),
	   cmocka_unit_test(metrics_are_read_and_listed), cmocka_unit_test(strange_ones_are_listed),
	   cmocka_unit_test(others_are_read_and_listed), cmocka_unit_test(words_are_written))
