/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/section.h"

#include <string.h>

#include "metric/derived.h"
#include "unit/unit.h"

/* Names are what people write in a list: words that no other section has. */
TEST(every_section)
{
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		const char *name = section_infos[i].name;

		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
		for (size_t other = 0; other < i; other++)
			assert_string_not_equal(name, section_infos[other].name);
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
