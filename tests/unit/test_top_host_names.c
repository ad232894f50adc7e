/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/host_names.h"

#include <stdio.h>

#include "unit/unit.h"

TEST(names_are_one_object_each)
{
	struct host_names names;
	const struct name *name;

	expect_ok(host_names_init(&names));
	name = host_names_of(&names, "kworker\0rest", 16);
	expect_text(name_text(name), "kworker");
	expect_text(name_text(host_names_of(&names, "0123456789abcdefg", 16)), "0123456789abcdef");
	assert_ptr_equal(host_names_of(&names, "kworker", 16), name);
	assert_ptr_equal(host_names_again(&names, name, "kworker", 16), name);
	assert_ptr_not_equal(host_names_again(&names, name, "kworkers", 16), name);
	host_names_deinit(&names);
}

/* Who gives itself a new name each time ends what we know, not us. */
TEST(names_without_room_are_unknown)
{
	struct host_names names;
	const struct name *first, *last = NULL;
	size_t count = 0;
	char bytes[16];

	expect_ok(host_names_init(&names));
	assert_in_range(names.arena.limit, 1 << 20, (size_t)64 << 20);
	names.arena.limit = 1 << 20;
	first = host_names_of(&names, "first", 16);
	while (last != names.unknown) {
		snprintf(bytes, sizeof(bytes), "%zu", count++);
		last = host_names_of(&names, bytes, sizeof(bytes));
		assert_in_range(count, 1, 1 << 20);
	}
	assert_in_range(count, 1000, 1 << 20);
	expect_text(name_text(last), "?");
	assert_in_range(names.arena.used, 1, 1 << 20);
	assert_ptr_equal(host_names_of(&names, "first", 16), first);
	assert_ptr_equal(host_names_again(&names, first, "other", 16), names.unknown);
	/* Whose path is not known has none. */
	assert_null(host_names_cgroup(&names, UINT64_MAX));
	assert_null(host_names_cgroup(&names, UINT64_MAX));
	assert_int_equal(names.paths.count, 1);
	host_names_deinit(&names);
}

UNIT_TESTS(cmocka_unit_test(names_are_one_object_each),
	   cmocka_unit_test(names_without_room_are_unknown))
