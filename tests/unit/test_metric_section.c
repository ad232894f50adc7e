/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/section.h"

#include <string.h>

#include "metric/derived.h"
#include "unit/unit.h"

/* The names people write, in the order they are printed in, what each is about, and whether
 * what is the same is left out. */
static const struct {
	const char *name;
	enum section_subject subject;
	bool only_changes;
} rows[] = {
	{ "primary", SUBJECT_GROUP, false },
	{ "taskstats-delay", SUBJECT_GROUP, false },
	{ "derived", SUBJECT_GROUP, false },
	{ "thread-states", SUBJECT_GROUP, false },
	{ "cgroup-stats", SUBJECT_CGROUP, false },
	{ "cgroup-limits", SUBJECT_CGROUP, false },
	{ "memory-stat", SUBJECT_CGROUP, true },
	{ "memory-events", SUBJECT_CGROUP, true },
	{ "pressure", SUBJECT_CGROUP, false },
	{ "host-pressure", SUBJECT_HOST, false },
	{ "smaps-rollup", SUBJECT_PROCESS, true },
	{ "sched-ext", SUBJECT_HOST, true },
	{ "host", SUBJECT_HOST, true },
	{ "host-counters", SUBJECT_DEVICE, false },
};

TEST(every_section)
{
	assert_int_equal(SECTION_COUNT, array_length(rows));
	for (size_t i = 0; i < array_length(rows); i++) {
		assert_string_equal(section_infos[i].name, rows[i].name);
		assert_int_equal(section_infos[i].subject, rows[i].subject);
		assert_int_equal(section_infos[i].only_changes, rows[i].only_changes);
		assert_true(strlen(section_infos[i].heading) > 3);
		assert_true(strlen(section_infos[i].prose) > 5);
		assert_true(SECTIONS_ALL >> i & 1);
	}
	assert_int_equal(SECTIONS_ALL >> SECTION_COUNT, 0);
}

/* Rows of threads alone have a place in the registry, and it is in one of their sections. */
TEST(metrics_are_in_sections_of_groups)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		assert_int_equal(section_infos[metrics[i].section].subject, SUBJECT_GROUP);
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		assert_int_equal(section_infos[derived_metrics[i].section].subject, SUBJECT_GROUP);
}

UNIT_TESTS(cmocka_unit_test(every_section), cmocka_unit_test(metrics_are_in_sections_of_groups))
