/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/kstats_shift_overview.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/kstats_scene.h"

#define METRICS 12

static struct kstats_table *table_of(unsigned number, unsigned count, double slow_share,
				     uint64_t *stream)
{
	char name[16];
	struct kstats_table *table;

	snprintf(name, sizeof(name), "metric%02u", number);
	table = scene_kstats(name, 3);
	for (unsigned i = 0; i < count; i++) {
		double uniform = ((double)(next_random(stream) >> 11) + 0.5) * 0x1p-53;
		double value = -100000 * log(uniform);

		if (i < count * slow_share)
			value *= 10;
		scene_kstats_record(table, 0, NULL, (uint64_t)value);
	}
	return table;
}

static void clear(struct kstats_shift_line lines[METRICS])
{
	for (unsigned i = 0; i < METRICS; i++) {
		kstats_table_destroy((struct kstats_table *)(uintptr_t)lines[i].before);
		kstats_table_destroy((struct kstats_table *)(uintptr_t)lines[i].after);
		kstats_shift_line_clear(&lines[i]);
	}
}

/* Metrics with few and with many values, of which some are ten times as large in one. */
static void make(struct kstats_shift_line lines[METRICS], unsigned planted, uint64_t *stream)
{
	for (unsigned i = 0; i < METRICS; i++) {
		const unsigned count = 100u << i % 6;
		const double slow_share = i == planted ? 0.03 : 0;

		expect_ok(kstats_shift_line_of(table_of(i, count, 0, stream),
					       table_of(i, count, slow_share, stream), &lines[i]));
	}
}

TEST(what_changed_is_first)
{
	uint64_t stream = 7;
	unsigned first = 0, false_alarms = 0;

	for (unsigned run = 0; run < 100; run++) {
		struct kstats_shift_line lines[METRICS];
		/* Of those with 1600 values and more, where three in a hundred are many. */
		const unsigned planted = 4 + run % 2 + run / 2 % 2 * 6;
		char name[16];

		make(lines, planted, &stream);
		kstats_shift_sort(lines, METRICS);
		snprintf(name, sizeof(name), "metric%02u", planted);
		first += strcmp(lines[0].title, name) == 0 && lines[0].quantity;
		for (unsigned i = 1; i < METRICS; i++) {
			assert_true(lines[i].factor <= lines[i - 1].factor);
			false_alarms += lines[i].quantity != NULL;
		}
		clear(lines);
	}
	assert_in_range(first, 95, 100);
	/* Of 1100 metrics, with some five percentiles each. */
	assert_in_range(false_alarms, 0, 20);
}

static char *printed(const struct kstats_shift_line *lines, size_t count, size_t limit)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	expect_ok(kstats_shift_overview(out, lines, count, limit, 0));
	fclose(out);
	return text;
}

TEST(the_table)
{
	struct kstats_table *before = scene_kstats("reads", 3), *after = scene_kstats("reads", 3);
	struct kstats_table *none = scene_kstats("none", 3);
	struct kstats_shift_line lines[3];
	char *text;

	for (unsigned i = 0; i < 1000; i++) {
		scene_kstats_record(before, 0, NULL, 1000);
		scene_kstats_record(after, 0, NULL, 2000);
	}
	expect_ok(kstats_shift_line_of(none, before, &lines[0]));
	expect_ok(kstats_shift_line_of(before, before, &lines[1]));
	expect_ok(kstats_shift_line_of(before, after, &lines[2]));
	kstats_shift_sort(lines, 3);
	text = printed(lines, 3, 10);
	assert_string_equal(
		text,
		" metric         p50 before    after  p99 before    after  largest change \n"
		" reads             1.023µs  2.047µs     1.023µs  2.047µs  p50 +88%..+113% \n"
		" none -> reads           -  1.023µs           -  1.023µs  nothing recorded before "
		"\n"
		" reads             1.023µs  1.023µs     1.023µs  1.023µs  none beyond chance \n");
	free(text);
	text = printed(lines, 3, 1);
	assert_non_null(strstr(text, "\n... 2 more metrics (--all)\n"));
	free(text);
	for (unsigned i = 0; i < 3; i++)
		kstats_shift_line_clear(&lines[i]);
	kstats_table_destroy(before);
	kstats_table_destroy(after);
	kstats_table_destroy(none);
}

UNIT_TESTS(cmocka_unit_test(what_changed_is_first), cmocka_unit_test(the_table))
