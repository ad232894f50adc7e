/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/rows.h"

#include "unit/build.h"

#define GROUPS 16

/* Groups "g00", "g01" .. of one thread each, twice: on both sides of a comparison. */
struct scene {
	struct ctprof_snapshot *before, *after;
	struct groups baseline, candidate;
};

static struct scene scene;

static struct ctprof_snapshot *side(void)
{
	struct ctprof_snapshot *s = build_snapshot();
	char name[8];

	for (uint32_t i = 0; i < GROUPS; i++) {
		snprintf(name, sizeof(name), "g%02u", (unsigned)i);
		build_thread(s, i + 1, i + 1, name, name, "/");
	}
	return s;
}

static int setup(void **state)
{
	(void)state;
	scene.before = side();
	scene.after = side();
	expect_ok(groups_init(&scene.baseline, scene.before, &group_axes[0]));
	expect_ok(groups_init(&scene.candidate, scene.after, &group_axes[0]));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	groups_deinit(&scene.baseline);
	groups_deinit(&scene.candidate);
	snapshot_destroy(scene.before);
	snapshot_destroy(scene.after);
	return 0;
}

static struct row row_of(size_t group)
{
	return (struct row){ .baseline = &scene.baseline.items[group],
			     .candidate = &scene.candidate.items[group] };
}

/* A row whose change was found. */
static struct row changed(size_t group, enum metric_id id, uint64_t size)
{
	struct row row = row_of(group);

	row.metric = &metrics[id];
	row.has_delta = true;
	row.size = size;
	return row;
}

/* --- the limit --- */

TEST(the_first_rows_are_kept)
{
	struct rows rows = { .limit = 3 }, all = { 0 };

	for (size_t i = 0; i < GROUPS; i++) {
		assert_true(rows_add(&rows, row_of(i)));
		assert_true(rows_add(&all, row_of(i)));
	}
	assert_int_equal(rows.count, 3);
	assert_int_equal(rows.left_out, GROUPS - 3);
	for (size_t i = 0; i < rows.count; i++)
		assert_ptr_equal(rows.items[i].candidate, &scene.candidate.items[i]);
	assert_int_equal(all.count, GROUPS);
	assert_int_equal(all.left_out, 0);
	array_deinit(&rows);
	array_deinit(&all);
}

#define MANY 20000

static size_t ascending(size_t i)
{
	return i;
}

static size_t descending(size_t i)
{
	return MANY - 1 - i;
}

/* 7919 is a prime that does not divide MANY: every number once. */
static size_t scattered(size_t i)
{
	return i * 7919 % MANY;
}

static size_t (*const orders[])(size_t) = { ascending, descending, scattered };
static const size_t limits[] = { 0, 1, 7, 1023, 1024, 1025, 5000, MANY - 1, MANY, MANY + 1 };

static size_t kept(size_t limit)
{
	return limit && limit < MANY ? limit : MANY;
}

TEST(the_largest_changes_are_kept)
{
	for (size_t o = 0; o < array_length(orders); o++) {
		for (size_t l = 0; l < array_length(limits); l++) {
			struct rows rows = { .limit = limits[l] };

			for (size_t i = 0; i < MANY; i++)
				assert_true(rows_add_by_change(
					&rows,
					changed(i % GROUPS, METRIC_run_time_ns, orders[o](i) + 1)));
			rows_sort_by_change(&rows);
			assert_int_equal(rows.count, kept(limits[l]));
			assert_int_equal(rows.left_out, MANY - kept(limits[l]));
			for (size_t i = 0; i < rows.count; i++)
				assert_int_equal(rows.items[i].size, MANY - i);
			array_deinit(&rows);
		}
	}
}

/* One of MANY rows of all units, many of one size. */
static struct row mixed(size_t i)
{
	static const enum metric_id ids[] = { METRIC_run_time_ns, METRIC_nice, METRIC_rchar,
					      METRIC_policy, METRIC_utime_clock_ticks };
	struct row row = changed(i % GROUPS, ids[i / GROUPS % 5], i / GROUPS / 5 % 50);

	row.has_delta = row.metric != &metrics[METRIC_policy];
	return row;
}

static bool same_place(const struct row *a, const struct row *b)
{
	return a->candidate == b->candidate && a->metric == b->metric && a->size == b->size;
}

TEST(units_and_equal_changes_are_kept_alike)
{
	struct rows all = { 0 };

	for (size_t i = 0; i < MANY; i++)
		assert_true(array_push(&all, mixed(i)));
	rows_sort_by_change(&all);
	for (size_t o = 0; o < array_length(orders); o++) {
		for (size_t l = 0; l < array_length(limits); l++) {
			struct rows rows = { .limit = limits[l] };

			for (size_t i = 0; i < MANY; i++)
				assert_true(rows_add_by_change(&rows, mixed(orders[o](i))));
			rows_sort_by_change(&rows);
			assert_int_equal(rows.count, kept(limits[l]));
			assert_int_equal(rows.count + rows.left_out, MANY);
			for (size_t i = 0; i < rows.count; i++)
				assert_true(same_place(&rows.items[i], &all.items[i]));
			array_deinit(&rows);
		}
	}
	array_deinit(&all);
}

/* Not all rows of many threads are held, whatever comes. */
TEST(few_rows_are_few)
{
	struct rows rows = { .limit = 20 };

	for (size_t i = 0; i < MANY; i++) {
		assert_true(rows_add_by_change(&rows, changed(0, METRIC_run_time_ns, i)));
		assert_true(rows.count <= 4096);
	}
	array_deinit(&rows);
}

/* --- the order --- */

TEST(units_stand_together)
{
	static const enum metric_id ids[] = { METRIC_run_time_ns, METRIC_utime_clock_ticks,
					      METRIC_rchar, METRIC_nr_wakeups, METRIC_nice };
	struct rows rows = { 0 };
	struct row label = row_of(0);

	label.metric = &metrics[METRIC_policy];
	assert_true(rows_add_by_change(&rows, label));
	for (size_t i = array_length(ids); i--;)
		for (uint64_t size = 1; size <= 2; size++)
			assert_true(rows_add_by_change(&rows, changed(0, ids[i], size + i * 10)));
	rows_sort_by_change(&rows);
	for (size_t i = 0; i < array_length(ids); i++) {
		assert_ptr_equal(rows.items[2 * i].metric, &metrics[ids[i]]);
		assert_int_equal(rows.items[2 * i].size, 2 + i * 10);
		assert_int_equal(rows.items[2 * i + 1].size, 1 + i * 10);
	}
	assert_ptr_equal(rows.items[2 * array_length(ids)].metric, &metrics[METRIC_policy]);
	array_deinit(&rows);
}

TEST(equal_changes_stand_by_group_then_metric)
{
	struct rows rows = { 0 };

	assert_true(rows_add_by_change(&rows, changed(1, METRIC_run_time_ns, 5)));
	assert_true(rows_add_by_change(&rows, changed(0, METRIC_wait_time_ns, 5)));
	assert_true(rows_add_by_change(&rows, changed(0, METRIC_run_time_ns, 5)));
	rows_sort_by_change(&rows);
	assert_ptr_equal(rows.items[0].metric, &metrics[METRIC_run_time_ns]);
	assert_ptr_equal(rows.items[1].metric, &metrics[METRIC_wait_time_ns]);
	assert_ptr_equal(rows.items[2].candidate, &scene.candidate.items[1]);
	array_deinit(&rows);
}

/* --- the change of a row --- */

static void both(enum metric_id id, uint64_t before, uint64_t after)
{
	build_number(snapshot_thread(scene.before, 0), id, before);
	build_number(snapshot_thread(scene.after, 0), id, after);
}

static struct row found(const struct metric *metric, const struct derived *derived)
{
	struct row row = row_of(0);

	row.metric = metric;
	row.derived = derived;
	assert_true(row_find_change(&row));
	return row;
}

TEST(changes_of_metrics)
{
	struct row row;

	both(METRIC_run_time_ns, 1000, 400);
	row = found(&metrics[METRIC_run_time_ns], NULL);
	assert_true(row.has_delta);
	assert_int_equal(row.size, 2 * 600);
	assert_false(row_is_unchanged(&row));

	both(METRIC_run_time_ns, 7, 7);
	row = found(&metrics[METRIC_run_time_ns], NULL);
	assert_true(row.has_delta && row_is_unchanged(&row));

	row = found(&metrics[METRIC_wait_sum], NULL);
	assert_true(!row.has_delta && row_is_unchanged(&row));
	build_number(snapshot_thread(scene.after, 0), METRIC_wait_sum, 0);
	row = found(&metrics[METRIC_wait_sum], NULL);
	assert_true(!row.has_delta && row.differs);
}

TEST(changes_of_categories)
{
	struct row row;

	both(METRIC_state, 'S', 'S');
	row = found(&metrics[METRIC_state], NULL);
	assert_true(!row.has_delta && row_is_unchanged(&row));
	both(METRIC_state, 'S', 'R');
	row = found(&metrics[METRIC_state], NULL);
	assert_true(!row.has_delta && row.differs);
}

TEST(a_category_that_stays_the_most_frequent_did_not_change)
{
	struct row row = row_of(0);
	struct group two = *row.candidate;

	two.count = 2; /* the first two groups as one */
	row.candidate = &two;
	row.metric = &metrics[METRIC_state];
	both(METRIC_state, 'R', 'R');
	build_number(snapshot_thread(scene.after, 1), METRIC_state, 'S');
	assert_true(row_find_change(&row));
	assert_true(!row.has_delta && row_is_unchanged(&row));
}

TEST(changes_of_derived_metrics)
{
	const struct derived *wait = &derived_metrics[DERIVED_ID_avg_wait_ns];
	struct row row = found(NULL, wait);

	assert_true(!row.has_delta && row_is_unchanged(&row));
	both(METRIC_wait_sum, 10, 11);
	both(METRIC_wait_count, 4, 4);
	row = found(NULL, wait);
	assert_true(row.has_delta && row.size > 0);
	both(METRIC_wait_count, 4, 0);
	row = found(NULL, wait);
	assert_true(!row.has_delta && row.differs);
}

/* The same midpoint, but other ends; and CPU sets of as many CPUs. */
TEST(a_change_without_size_is_one)
{
	struct row row = row_of(0);
	struct group two = *row.candidate;

	two.count = 2;
	row.candidate = &two;
	row.metric = &metrics[METRIC_nice];
	both(METRIC_nice, 5, 0);
	build_number(snapshot_thread(scene.after, 1), METRIC_nice, 10);
	assert_true(row_find_change(&row));
	assert_true(row.has_delta && row.differs && !row_is_unchanged(&row));
	assert_int_equal(row.size, 0);

	build_cpus(scene.before, snapshot_thread(scene.before, 0), "0-3");
	build_cpus(scene.after, snapshot_thread(scene.after, 0), "4-7");
	row = found(&metrics[METRIC_cpu_affinity], NULL);
	assert_true(row.differs && !row_is_unchanged(&row));
	assert_int_equal(row.size, 0);
}

/* Of the second thread of the later side nothing was measured. */
TEST(some_of_the_threads_make_no_delta)
{
	struct row row = row_of(0);
	struct group two = *row.candidate;

	two.count = 2;
	row.candidate = &two;
	row.metric = &metrics[METRIC_wait_sum];
	both(METRIC_wait_sum, 10, 1000);
	both(METRIC_wait_count, 4, 4);
	assert_true(row_find_change(&row));
	assert_true(!row.has_delta && row.differs);
	assert_int_equal(row.size, 0);
	row.metric = NULL;
	row.derived = &derived_metrics[DERIVED_ID_avg_wait_ns];
	assert_true(row_find_change(&row));
	assert_true(!row.has_delta && row.differs);
	assert_int_equal(row.size, 0);
}

/* --- the table --- */

static char *printed(const struct rows *rows, bool comparing)
{
	const struct report_columns columns = report_columns_usual(comparing);
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	expect_ok(rows_print(out, rows, &columns, "pcomm", false));
	fclose(out);
	return text;
}

TEST(a_table_of_two_sides)
{
	_cleanup_free_ char *text = NULL;
	struct rows rows = { .limit = 1 };

	both(METRIC_run_time_ns, 1000, 1250);
	assert_true(rows_add_by_change(&rows, found(&metrics[METRIC_wait_sum], NULL)));
	assert_true(rows_add_by_change(&rows, found(&metrics[METRIC_run_time_ns], NULL)));
	rows_sort_by_change(&rows);
	text = printed(&rows, true);
	assert_string_equal(
		text,
		" pcomm  threads  metric       baseline  candidate   delta       % \n"
		" g00          1  run_time_ns   1.000\xc2\xb5s    1.250\xc2\xb5s  +250ns  +25.0% \n"
		"... 1 more rows (--limit 0 shows all)\n");
	array_deinit(&rows);
}

TEST(a_table_says_of_how_many_threads)
{
	_cleanup_free_ char *text = NULL;
	struct group two = scene.candidate.items[0];
	struct row row = row_of(0);
	struct rows rows = { 0 };

	two.count = 2;
	row.candidate = &two;
	both(METRIC_wait_sum, 10, 7);
	both(METRIC_wait_count, 4, 2);
	row.metric = &metrics[METRIC_wait_sum];
	assert_true(rows_add(&rows, row));
	row.metric = NULL;
	row.derived = &derived_metrics[DERIVED_ID_avg_wait_ns];
	assert_true(rows_add(&rows, row));
	text = printed(&rows, true);
	assert_string_equal(text,
			    " pcomm  threads  metric       baseline     candidate  delta  % \n"
			    " g00        1\xe2\x86\x92"
			    "2  wait_sum         10ns     7ns (1/2)      -  - \n"
			    " g00        1\xe2\x86\x92"
			    "2  avg_wait_ns    2.50ns  3.50ns (1/2)      -  - \n");
	array_deinit(&rows);
}

TEST(a_table_of_one_side)
{
	_cleanup_free_ char *text = NULL;
	struct rows rows = { .limit = 2 };
	struct row row = { .candidate = &scene.candidate.items[0] };

	both(METRIC_wait_sum, 10, 7);
	both(METRIC_wait_count, 4, 2);
	row.metric = &metrics[METRIC_wait_sum];
	assert_true(rows_add(&rows, row));
	row.metric = NULL;
	row.derived = &derived_metrics[DERIVED_ID_avg_wait_ns];
	assert_true(rows_add(&rows, row));
	text = printed(&rows, false);
	assert_string_equal(text, " pcomm  threads  metric        value \n"
				  " g00          1  wait_sum        7ns \n"
				  " g00          1  avg_wait_ns  3.50ns \n");
	array_deinit(&rows);
}

TEST(columns_of_each_table)
{
	for (unsigned comparing = 0; comparing < 2; comparing++) {
		const struct report_columns usual = report_columns_usual(comparing);

		for (size_t i = 0; i < usual.count; i++)
			assert_true(report_column_fits(usual.ids[i], comparing));
		assert_true(report_column_fits(REPORT_TAGS, comparing));
		assert_int_equal(report_column_fits(REPORT_VALUE, comparing), !comparing);
		assert_int_equal(report_column_fits(REPORT_DELTA, comparing), comparing);
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS(CASE(the_first_rows_are_kept), CASE(the_largest_changes_are_kept),
	   CASE(units_and_equal_changes_are_kept_alike), CASE(few_rows_are_few),
	   CASE(units_stand_together), CASE(equal_changes_stand_by_group_then_metric),
	   CASE(changes_of_metrics), CASE(changes_of_categories),
	   CASE(a_category_that_stays_the_most_frequent_did_not_change),
	   CASE(changes_of_derived_metrics), CASE(a_change_without_size_is_one),
	   CASE(some_of_the_threads_make_no_delta), CASE(a_table_says_of_how_many_threads),
	   CASE(a_table_of_two_sides), CASE(a_table_of_one_side), CASE(columns_of_each_table))
