/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/section.h"

#include <string.h>

#include "metric/derived.h"
#include "unit/unit.h"

/* The names people write, in the order they are printed in, and what each is about. */
static const struct {
	const char *name;
	enum section_subject subject;
} rows[] = {
	{ "primary", SUBJECT_GROUP },        { "taskstats-delay", SUBJECT_GROUP },
	{ "derived", SUBJECT_GROUP },        { "cgroup-stats", SUBJECT_CGROUP },
	{ "cgroup-limits", SUBJECT_CGROUP }, { "memory-stat", SUBJECT_CGROUP },
	{ "memory-events", SUBJECT_CGROUP }, { "pressure", SUBJECT_CGROUP },
	{ "host-pressure", SUBJECT_HOST },   { "smaps-rollup", SUBJECT_PROCESS },
	{ "sched-ext", SUBJECT_HOST },       { "host", SUBJECT_HOST },
	{ "host-counters", SUBJECT_DEVICE },
};

TEST(every_section)
{
	assert_int_equal(SECTION_COUNT, array_length(rows));
	for (size_t i = 0; i < array_length(rows); i++) {
		assert_string_equal(section_infos[i].name, rows[i].name);
		assert_int_equal(section_infos[i].subject, rows[i].subject);
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
