/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/lock_owner.h"

#include <sys/syscall.h>

#include "unit/unit.h"

enum { WAIT = 0, LOCK_PI = 6, BITSET = 9, LOCK_PI2 = 13, PRIVATE = 128, REALTIME = 256 };

static bool waits(uint32_t operation, uint32_t value, struct lock_wait *ret)
{
	const uint64_t arguments[6] = { 0x1000, operation, value };

	return lock_wait_of(SYS_futex, arguments, ret);
}

static uint32_t owner_in(enum lock_kind kind, uint64_t address, uint32_t value,
			 const uint32_t words[6], size_t size)
{
	const struct lock_wait wait = { .kind = kind, .address = address, .value = value };
	struct text bytes = guarded(words, size);
	const uint32_t owner = lock_wait_owner(&wait, bytes.bytes, size);

	unguard(bytes);
	return owner;
}

TEST(kinds_of_waits)
{
	struct lock_wait wait;

	assert_true(waits(WAIT | PRIVATE, 2, &wait));
	assert_int_equal(wait.kind, LOCK_MUTEX);
	assert_true(wait.is_private);
	assert_int_equal(wait.address, 0x1000);
	assert_true(waits(WAIT, 2, &wait));
	assert_false(wait.is_private);
	assert_true(waits(LOCK_PI | PRIVATE, 0, &wait));
	assert_int_equal(wait.kind, LOCK_OWNER);
	assert_true(waits(LOCK_PI2, 7, &wait));
	assert_int_equal(wait.kind, LOCK_OWNER);
	assert_true(waits(WAIT, 0x80000000u | 4242, &wait));
	assert_int_equal(wait.kind, LOCK_OWNER);
	assert_true(waits(BITSET | PRIVATE | REALTIME, 3, &wait));
	assert_int_equal(wait.kind, LOCK_RWLOCK);
	assert_true(waits(BITSET | REALTIME, 4242, &wait));
	assert_int_equal(wait.kind, LOCK_JOIN);
}

TEST(waits_for_work)
{
	const uint64_t arguments[6] = { 0x1000, 0, 2 };
	struct lock_wait wait;

	assert_false(waits(BITSET | PRIVATE, 2, &wait)); /* a condition variable */
	assert_false(waits(WAIT | PRIVATE, 0, &wait));
	assert_false(waits(WAIT | PRIVATE, 4242, &wait));
	assert_false(waits(BITSET, UINT32_MAX, &wait));
	assert_false(waits(1, 2, &wait));
	assert_false(lock_wait_of(SYS_read, arguments, &wait));
	assert_false(lock_wait_of(-1, arguments, &wait));
	assert_false(lock_wait_of(INT32_MAX, arguments, &wait));
}

TEST(owners)
{
	const uint32_t mutex[6] = { 2, 1, 4242, 1, 2, 0 };
	const uint32_t word[6] = { 0xc0000000u | 4243 };
	const uint32_t from_phase[6] = { 3, 3, 0, 0, 4244, 0 };
	const uint32_t from_writers[6] = { 3, 0, 0, 4245, 0, 0 };
	const uint32_t thread[6] = { 4246 };

	assert_int_equal(owner_in(LOCK_MUTEX, 0x1000, 2, mutex, sizeof(mutex)), 4242);
	assert_int_equal(owner_in(LOCK_OWNER, 0x1000, 0, word, sizeof(word)), 4243);
	assert_int_equal(owner_in(LOCK_RWLOCK, 0x1008, 3, from_phase, sizeof(from_phase)), 4244);
	assert_int_equal(owner_in(LOCK_RWLOCK, 0x100c, 3, from_writers, sizeof(from_writers)),
			 4245);
	assert_int_equal(owner_in(LOCK_JOIN, 0x1000, 4246, thread, sizeof(thread)), 4246);
	/* It has ended meanwhile. */
	assert_int_equal(owner_in(LOCK_JOIN, 0x1000, 4247, thread, sizeof(thread)), 0);
}

/* Memory may hold anything, and less than was asked for. */
TEST(no_owners)
{
	const uint32_t kind[6] = { 2, 0, 4242, 0, 0x12345678, 0 };
	const uint32_t high[6] = { 0x3fffffff, 0, UINT32_MAX, UINT32_MAX, 0, 0 };

	assert_int_equal(owner_in(LOCK_MUTEX, 0x1000, 2, kind, sizeof(kind)), 0);
	for (enum lock_kind k = LOCK_MUTEX; k <= LOCK_JOIN; k++) {
		assert_int_equal(owner_in(k, 0x100c, 2, high, sizeof(high)), 0);
		for (size_t size = 0; size < 4; size++)
			assert_int_equal(owner_in(k, 0x1000, 2, high, size), 0);
	}
	for (size_t size = 0; size < 20; size++)
		assert_int_equal(owner_in(LOCK_MUTEX, 0x1000, 2,
					  (const uint32_t[]){ 2, 0, 9, 0, 0, 0 }, size),
				 0);
}

UNIT_TESTS(cmocka_unit_test(kinds_of_waits), cmocka_unit_test(waits_for_work),
	   cmocka_unit_test(owners), cmocka_unit_test(no_owners))
