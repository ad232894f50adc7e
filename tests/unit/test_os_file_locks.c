/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/file_locks.h"

#include "unit/unit.h"

static const char locks[] = "1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 0 EOF\n"
			    "2: FLOCK  ADVISORY  WRITE 2001 00:16:28457 0 EOF\n"
			    "2: -> FLOCK  ADVISORY  WRITE 2002 00:16:28457 0 EOF\n"
			    "2:  -> FLOCK  ADVISORY  WRITE 2003 00:16:28457 0 EOF\n"
			    "3: OFDLCK ADVISORY  READ  -1 08:01:1 0 EOF\n"
			    "3: -> OFDLCK ADVISORY  WRITE 2004 08:01:1 0 EOF\n"
			    "4: LEASE  ACTIVE    READ  2005 08:01:2 0 EOF\n";

static uint32_t holder(const char *bytes, uint32_t pid)
{
	struct text text = guarded(bytes, strlen(bytes));
	const uint32_t found = file_locks_holder(text, pid);

	unguard(text);
	return found;
}

TEST(holders_of_locks_that_are_waited_for)
{
	assert_int_equal(holder(locks, 2002), 2001);
	assert_int_equal(holder(locks, 2003), 2001);
}

TEST(no_holder)
{
	assert_int_equal(holder(locks, 2001), 0); /* waits for none */
	assert_int_equal(holder(locks, 2004), 0); /* is not told */
	assert_int_equal(holder(locks, 0), 0);
	assert_int_equal(holder("", 2002), 0);
	assert_int_equal(holder("2: -> FLOCK  ADVISORY  WRITE 2002 00:16:28457 0 EOF\n", 2002), 0);
	assert_int_equal(holder("1: FLOCK ADVISORY WRITE 5 x\n2: -> FLOCK ADVISORY WRITE 6 x", 6),
			 0);
	assert_int_equal(holder("1:\n1: ->\n1: -> FLOCK ADVISORY WRITE", 6), 0);
}

UNIT_TESTS(cmocka_unit_test(holders_of_locks_that_are_waited_for), cmocka_unit_test(no_holder))
