/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/users.h"

#include "unit/build.h"

/* The names that a file of passwd(5) gives to the users of these processes. */
static struct ctprof_snapshot *named(const uint32_t *uids, size_t count, struct text passwd)
{
	struct ctprof_snapshot *s = build_snapshot();
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(fwrite(passwd.bytes, 1, passwd.length, file), passwd.length);
	rewind(file);
	for (uint32_t i = 0; i < count; i++)
		assert_true(
			array_push(&s->processes,
				   (struct process){ .tgid = i + 1, .uid = reading_of(uids[i]) }));
	expect_ok(users_take(s, file));
	fclose(file);
	assert_true(s->users.measured);
	return s;
}

static void expect_user(const struct ctprof_snapshot *s, size_t i, const char *uid,
			const char *name)
{
	assert_true(i < s->users.count);
	expect_text(name_text(s->users.items[i].key), uid);
	expect_text(name_text(s->users.items[i].value), name);
}

TEST(users_that_are_seen)
{
	static const uint32_t uids[] = { 1000, 0, 1000, 65534, 4242, UINT32_MAX };
	struct ctprof_snapshot *s = named(uids, array_length(uids),
					  TEXT("root:x:0:0:root:/root:/bin/bash\n"
					       "daemon:x:1:1::/:/bin/false\n"
					       "nobody:x:65534:65534::/:/bin/false\n"
					       "\n"
					       "# a remark\n"
					       "alice:x:1000:1000:Alice:/home/alice:/bin/sh\n"
					       "last:x:4294967295:0::/:/bin/sh"));

	assert_int_equal(s->users.count, 4);
	expect_user(s, 0, "0", "root");
	expect_user(s, 1, "1000", "alice");
	expect_user(s, 2, "65534", "nobody");
	expect_user(s, 3, "4294967295", "last");
	snapshot_destroy(s);
}

TEST(the_first_name_counts)
{
	static const uint32_t uids[] = { 0 };
	struct ctprof_snapshot *s = named(uids, 1,
					  TEXT("+\n-nis::0:0:::\n+nis::0:0:::\nfirst:x:0:0::/:\n"
					       "second:x:0:0::/:\n"));

	assert_int_equal(s->users.count, 1);
	expect_user(s, 0, "0", "first");
	snapshot_destroy(s);
}

TEST(lines_that_are_no_users)
{
	static const uint32_t uids[] = { 0, 1, 2, 3 };
	struct ctprof_snapshot *s = named(uids, array_length(uids),
					  TEXT("noise\n:::\nb\xff\xfe:x:1:1::/:\nneg:x:-2:0::/:\n"
					       "text:x:two:0::/:\n\0\0\nthree:x:3:3::/:\n"));

	assert_int_equal(s->users.count, 1);
	expect_user(s, 0, "3", "three");
	snapshot_destroy(s);
}

TEST(a_line_that_is_too_long)
{
	static const uint32_t uids[] = { 0, 1 };
	static char file[3 * USERS_LINE_MAX];
	size_t length = 0;
	struct ctprof_snapshot *s;

	memcpy(file, "long:x:0:0:", 11);
	length = 11;
	memset(file + length, 'a', 2 * USERS_LINE_MAX);
	length += 2 * USERS_LINE_MAX;
	memcpy(file + length, ":/:\none:x:1:1::/:\n", 18);
	length += 18;
	s = named(uids, array_length(uids), (struct text){ file, length });
	assert_int_equal(s->users.count, 1);
	expect_user(s, 0, "1", "one");
	snapshot_destroy(s);
}

TEST(no_users)
{
	struct ctprof_snapshot *s = named(NULL, 0, TEXT("root:x:0:0::/:\n"));

	assert_int_equal(s->users.count, 0);
	snapshot_destroy(s);
}

/* A process whose user is not known has none, and it is not root. */
TEST(a_user_that_was_not_measured)
{
	struct ctprof_snapshot *s = build_snapshot();
	FILE *file = tmpfile();

	assert_non_null(file);
	fputs("root:x:0:0::/:\n", file);
	rewind(file);
	assert_true(array_push(&s->processes, (struct process){ .tgid = 1 }));
	expect_ok(users_take(s, file));
	assert_int_equal(s->users.count, 0);
	fclose(file);
	snapshot_destroy(s);
}

UNIT_TESTS(cmocka_unit_test(users_that_are_seen), cmocka_unit_test(the_first_name_counts),
	   cmocka_unit_test(lines_that_are_no_users), cmocka_unit_test(a_line_that_is_too_long),
	   cmocka_unit_test(no_users), cmocka_unit_test(a_user_that_was_not_measured))
