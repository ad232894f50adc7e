/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "unit/unit.h"

TEST(create_formats)
{
	struct error *err = error_create("thread %d: %s", 7, "gone");

	assert_string_equal(err->message, "thread 7: gone");
	assert_int_equal(err->errnum, 0);
	error_destroy(err);
}

TEST(system_adds_what_the_system_said)
{
	struct error *err = error_system(ENOENT, "%s", "/proc/1/stat");

	assert_string_equal(err->message, "/proc/1/stat: No such file or directory");
	assert_int_equal(err->errnum, ENOENT);
	error_destroy(err);
}

TEST(prefixes_stand_before_and_keep_errnum)
{
	struct error *err = error_system(EACCES, "io");

	err = error_prefix(err, "thread %d", 12);
	err = error_prefix(err, "%s", "capture");
	assert_string_equal(err->message, "capture: thread 12: io: Permission denied");
	assert_int_equal(err->errnum, EACCES);
	error_destroy(err);
}

TEST(percent_signs_are_not_formats_twice)
{
	struct error *err = error_prefix(error_create("%s", "100%s%n"), "%s", "50%d");

	assert_string_equal(err->message, "50%d: 100%s%n");
	error_destroy(err);
}

TEST(no_memory_needs_no_memory)
{
	struct error *err = error_prefix(&error_no_memory, "thread %d", 3);

	assert_ptr_equal(err, &error_no_memory);
	assert_int_equal(err->errnum, ENOMEM);
	error_destroy(err);
	error_destroy(err);
	assert_string_equal(error_no_memory.message, "out of memory");
}

TEST(destroy_takes_null_and_guards_destroy)
{
	error_destroy(NULL);
	{
		_cleanup_error_ struct error *err = error_create("released by its guard");

		assert_non_null(err->message);
	}
}

UNIT_TESTS(cmocka_unit_test(create_formats), cmocka_unit_test(system_adds_what_the_system_said),
	   cmocka_unit_test(prefixes_stand_before_and_keep_errnum),
	   cmocka_unit_test(percent_signs_are_not_formats_twice),
	   cmocka_unit_test(no_memory_needs_no_memory),
	   cmocka_unit_test(destroy_takes_null_and_guards_destroy))
