/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/subuid.h"

#include "unit/unit.h"

static const struct text passwd = TEXT("root:x:0:0:root:/root:/bin/bash\n"
				       "alice:x:1000:1000::/home/alice:/bin/sh\n"
				       "broken:x\n"
				       "bob:x:1001:1001::/home/bob:/bin/sh");

TEST(an_id_in_a_range_is_of_its_owner)
{
	struct subuid_ranges ranges = { 0 };

	assert_true(subuid_read(TEXT("alice:100000:65536\nbob:165536:65536\n1002:231072:10\n"),
				passwd, &ranges));
	assert_int_equal(subuid_owner(&ranges, 99999), 99999);
	assert_int_equal(subuid_owner(&ranges, 100000), 1000);
	assert_int_equal(subuid_owner(&ranges, 165535), 1000);
	assert_int_equal(subuid_owner(&ranges, 165536), 1001);
	assert_int_equal(subuid_owner(&ranges, 231081), 1002);
	assert_int_equal(subuid_owner(&ranges, 231082), 231082);
	assert_int_equal(subuid_owner(&ranges, 1000), 1000);
	array_deinit(&ranges);
}

TEST(lines_of_another_form_are_passed_over)
{
	struct subuid_ranges ranges = { 0 };

	assert_true(subuid_read(TEXT("nobody-has-it:5:5\nbroken:5:5\nalice:x:5\nalice:5\nalice\n\n"
				     "alice:4294967290:4294967295\nalice:7:-1\nbob:100:1"),
				passwd, &ranges));
	assert_int_equal(ranges.count, 2);
	assert_int_equal(subuid_owner(&ranges, 100), 1001);
	assert_int_equal(subuid_owner(&ranges, 4294967289), 4294967289);
	assert_int_equal(subuid_owner(&ranges, UINT32_MAX), 1000);
	assert_int_equal(subuid_owner(&ranges, 5), 5);
	array_deinit(&ranges);
}

UNIT_TESTS(cmocka_unit_test(an_id_in_a_range_is_of_its_owner),
	   cmocka_unit_test(lines_of_another_form_are_passed_over))
