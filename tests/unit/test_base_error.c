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

TEST(system_appends_strerror)
{
	struct error *err = error_system(ENOENT, "%s", "/proc/1/stat");

	assert_string_equal(err->message, "/proc/1/stat: No such file or directory");
	assert_int_equal(err->errnum, ENOENT);
	error_destroy(err);
}

TEST(an_unused_code)
{
	struct error *err = error_coded(EINVAL, "bits are %d to %d", 0, 5);

	assert_string_equal(err->message, "bits are 0 to 5");
	assert_int_equal(err->errnum, EINVAL);
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

/* It may quote a file name: neither escape sequences nor further lines come of it. */
TEST(control_characters_are_blanked)
{
	static const struct {
		const char *quoted, *said;
	} texts[] = {
		{ "a\nb\033[2J\x7f", "a?b?[2J?" },
		{ "\xc2\x80 \xc2\x9b[31m \xc2\x9f", "?? ??[31m ??" },
		/* neighbours of those: a no-break space, a letter, other leading bytes */
		{ "\xc2\xa0 \xc3\x9b \xe2\x82\xac", "\xc2\xa0 \xc3\x9b \xe2\x82\xac" },
		{ "\xc2", "\xc2" },
		{ "\xc2\n", "\xc2?" },
	};

	for (size_t i = 0; i < array_length(texts); i++) {
		struct error *err = error_create("%s", texts[i].quoted);

		assert_string_equal(err->message, texts[i].said);
		error_destroy(err);
		expect_error(error_system(ENOENT, "%s", texts[i].quoted), texts[i].said);
		expect_error(error_prefix(error_create("x"), "%s", texts[i].quoted), texts[i].said);
	}
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

UNIT_TESTS(cmocka_unit_test(create_formats), cmocka_unit_test(an_unused_code),
	   cmocka_unit_test(system_appends_strerror),
	   cmocka_unit_test(prefixes_stand_before_and_keep_errnum),
	   cmocka_unit_test(percent_signs_are_not_formats_twice),
	   cmocka_unit_test(control_characters_are_blanked),
	   cmocka_unit_test(no_memory_needs_no_memory),
	   cmocka_unit_test(destroy_takes_null_and_guards_destroy))
