/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics that a program reads and controls itself: what it reads is what it recorded, and what
 * ctprof reads of it.
 */
#include <kstats.h>

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "histogram/bucket.h"
#include "unit/unit.h"

TEST(values_are_read)
{
	struct kstats *key = kstats_new("values", 3);
	struct kstats_snapshot *empty, *all;
	uint64_t low;

	empty = kstats_snapshot_take(key);
	assert_int_equal(kstats_snapshot_count(empty), 0);
	assert_int_equal(kstats_snapshot_quantile(empty, 0.5, &low), 0);
	assert_int_equal(low, 0);
	assert_true(kstats_snapshot_mean(empty) == 0);
	assert_int_equal(kstats_quantile(key, 1), 0);
	for (unsigned i = 1; i <= 100; i++)
		kstats_record(key, i);
	all = kstats_snapshot_take(key);
	assert_int_equal(kstats_snapshot_count(all), 100);
	assert_true(kstats_snapshot_mean(all) == 50.5);
	/* Each percentile of 1 to 100 is its number, and lies within the bounds of its slot. */
	for (unsigned percent = 1; percent <= 100; percent++) {
		uint64_t high = kstats_snapshot_quantile(all, percent / 100.0, &low);

		assert_in_range(percent, low, high);
		assert_int_equal(bucket_slot(percent, 3), bucket_slot(low, 3));
		assert_int_equal(kstats_quantile(key, percent / 100.0), high);
	}
	assert_int_equal(kstats_snapshot_quantile(all, -1, NULL), 1);
	assert_int_equal(kstats_snapshot_quantile(all, 2, NULL),
			 bucket_high(bucket_slot(100, 3), 3));
	/* The largest there is. */
	kstats_record(key, UINT64_MAX);
	assert_true(kstats_quantile(key, 1) == UINT64_MAX);
	assert_int_equal(kstats_snapshot_count(all), 100);
	kstats_snapshot_free(empty);
	kstats_snapshot_free(all);
	kstats_delete(key);
}

TEST(snapshots_are_subtracted)
{
	struct kstats *key = kstats_new("deltas", 2), *other = kstats_new("others", 2);
	struct kstats_snapshot *first, *second, *foreign;

	for (unsigned i = 0; i < 10; i++)
		kstats_record(key, 5);
	first = kstats_snapshot_take(key);
	for (unsigned i = 0; i < 7; i++)
		kstats_record(key, 1000);
	second = kstats_snapshot_take(key);
	foreign = kstats_snapshot_take(other);
	assert_int_equal(kstats_snapshot_subtract(first, second), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(kstats_snapshot_subtract(second, foreign), -1);
	assert_int_equal(kstats_snapshot_subtract(second, first), 0);
	assert_int_equal(kstats_snapshot_count(second), 7);
	assert_true(kstats_snapshot_mean(second) == 1000);
	kstats_snapshot_free(second);
	/* Emptied in between. */
	assert_int_equal(kstats_reset(key), 0);
	for (unsigned i = 0; i < 20; i++)
		kstats_record(key, 5);
	second = kstats_snapshot_take(key);
	assert_int_equal(kstats_snapshot_subtract(second, first), -1);
	assert_int_equal(kstats_snapshot_count(second), 20);
	kstats_snapshot_free(first);
	kstats_snapshot_free(second);
	kstats_snapshot_free(foreign);
	kstats_delete(key);
	kstats_delete(other);
}

static uint64_t count_of(struct kstats *key)
{
	struct kstats_snapshot *snapshot = kstats_snapshot_take(key);
	uint64_t count = kstats_snapshot_count(snapshot);

	kstats_snapshot_free(snapshot);
	return count;
}

TEST(start_stop_and_reset)
{
	struct kstats *key = kstats_new("controlled", 3);

	kstats_record(key, 1);
	kstats_stop(key);
	kstats_record(key, 1);
	assert_int_equal(count_of(key), 1);
	kstats_start(key);
	kstats_record(key, 1);
	assert_int_equal(count_of(key), 2);
	assert_int_equal(kstats_reset(key), 0);
	assert_int_equal(count_of(key), 0);
	kstats_record(key, 1);
	assert_int_equal(kstats_reset(key), 0);
	assert_int_equal(kstats_reset(key), 0);
	kstats_record(key, 3);
	assert_int_equal(count_of(key), 1);
	assert_int_equal(kstats_quantile(key, 0.5), 3);
	kstats_delete(key);
}

/* Values of a child are those of both. */
TEST(a_child_counts_too)
{
	struct kstats *key = kstats_new("forked", 3);
	pid_t child = fork();
	int status;

	if (!child) {
		kstats_record(key, 1);
		_exit(count_of(key) < 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	kstats_record(key, 1);
	assert_int_equal(count_of(key), 2);
	kstats_delete(key);
}

TEST(descriptions)
{
	static const char *const wrong_units[] = { "a b", "0123456789abcdef", "\"", "B\n", "µs" };
	static const char *const wrong_labels[] = {
		"a",     "a=b,",    "=b",   "a=b,,c=d", "1a=b",       "a b=c",
		"a=b,c", "a=\"b\"", "a=\\", "a=b\n",    "a=\xc3\xa4",
	};
	struct kstats *key = kstats_new("described", 3), *times = kstats_new_time("times", 3);
	char longest[257];

	assert_int_equal(kstats_describe(key, "bytes", "path=/api?x=1,method=GET"), 0);
	assert_int_equal(kstats_describe(key, NULL, NULL), 0);
	assert_int_equal(kstats_describe(key, "MiB/s", "a="), 0);
	assert_int_equal(kstats_describe(times, NULL, "_a1=b"), 0);
	assert_int_equal(kstats_describe(times, "s", NULL), -1);
	assert_int_equal(errno, EINVAL);
	for (size_t i = 0; i < array_length(wrong_units); i++)
		assert_int_equal(kstats_describe(key, wrong_units[i], NULL), -1);
	for (size_t i = 0; i < array_length(wrong_labels); i++)
		if (kstats_describe(key, NULL, wrong_labels[i]) != -1)
			fail_msg("accepted '%s'", wrong_labels[i]);
	memset(longest, 'x', sizeof(longest));
	longest[1] = '=';
	longest[255] = '\0';
	assert_int_equal(kstats_describe(key, NULL, longest), 0);
	longest[255] = 'x';
	longest[256] = '\0';
	assert_int_equal(kstats_describe(key, NULL, longest), -1);
	kstats_delete(key);
	kstats_delete(times);
}

TEST(nothing_is_a_metric_too)
{
	assert_null(kstats_snapshot_take(NULL));
	assert_int_equal(kstats_snapshot_count(NULL), 0);
	assert_int_equal(kstats_snapshot_quantile(NULL, 0.5, NULL), 0);
	assert_true(kstats_snapshot_mean(NULL) == 0);
	assert_int_equal(kstats_snapshot_subtract(NULL, NULL), 0);
	assert_int_equal(kstats_quantile(NULL, 0.5), 0);
	assert_int_equal(kstats_reset(NULL), 0);
	assert_int_equal(kstats_describe(NULL, "x", NULL), 0);
	kstats_start(NULL);
	kstats_stop(NULL);
	kstats_snapshot_free(NULL);
}

UNIT_TESTS(cmocka_unit_test(values_are_read), cmocka_unit_test(snapshots_are_subtracted),
	   cmocka_unit_test(start_stop_and_reset), cmocka_unit_test(a_child_counts_too),
	   cmocka_unit_test(descriptions), cmocka_unit_test(nothing_is_a_metric_too))
