/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/table_builders.h"

#include <fcntl.h>
#include <unistd.h>

#include "unit/unit.h"

/* A pipe whose end of writing builders close. */
static int open_pipe(struct table_builders *builders)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	table_builders_close(builders, 0, ends[1]);
	return ends[0];
}

/* It is closed sometime: until then, this waits. */
static void expect_closed(int fd)
{
	char byte;

	assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
}

TEST(files_are_closed)
{
	struct table_builders *builders;

	expect_ok(table_builders_create(NULL, NULL, NULL, &builders));
	expect_closed(open_pipe(builders));
	assert_null(table_builders_take(builders));
	table_builders_destroy(builders);
}

TEST(files_are_closed_when_all_is_over)
{
	struct table_builders *builders;
	int fds[64];

	expect_ok(table_builders_create(NULL, NULL, NULL, &builders));
	for (size_t i = 0; i < array_length(fds); i++)
		fds[i] = open_pipe(builders);
	table_builders_destroy(builders);
	for (size_t i = 0; i < array_length(fds); i++)
		expect_closed(fds[i]);
}

/* Its parts are not made when they come to be read after the end. */
TEST(parts_at_the_end)
{
	const struct table_part part = { .count = 1 };
	struct table_builders *builders;
	int ends[2];

	expect_ok(table_builders_create(NULL, NULL, NULL, &builders));
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(table_builders_ask_parts(builders, (uint32_t)getpid(), ends[1],
					     &(struct words){ 0 }, 0, &part, 1, NULL));
	close(ends[1]);
	table_builders_destroy(builders);
	expect_closed(ends[0]);
}

UNIT_TESTS(cmocka_unit_test(files_are_closed), cmocka_unit_test(files_are_closed_when_all_is_over),
	   cmocka_unit_test(parts_at_the_end))
