/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/call_state.h"

#include <sys/syscall.h>

#include "unit/unit.h"

enum { SHALLOW, DEEP };

static enum state of(int32_t number, uint64_t first, uint64_t second, uint64_t third, bool is_deep,
		     enum call_file file)
{
	const uint64_t arguments[6] = { first, second, third };

	return call_state(number, arguments, is_deep, file);
}

/* The rows of doc/top.md. */
TEST(states_of_calls)
{
	static const struct {
		int number;
		uint64_t first, second, third;
		bool is_deep;
		enum call_file file;
		enum state state;
	} rows[] = {
		{ SYS_recvfrom, 0, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_SLEEP_NETWORK },
		{ SYS_read, 0, 0, 0, SHALLOW, CALL_FILE_SOCKET, STATE_SLEEP_NETWORK },
		{ SYS_read, 0, 0, 0, SHALLOW, CALL_FILE_PIPE, STATE_SLEEP_PIPE },
		{ SYS_read, 0, 0, 0, SHALLOW, CALL_FILE_TIMER, STATE_SLEEP_TIMER },
		{ SYS_pread64, 0, 0, 0, DEEP, CALL_FILE_STORED, STATE_SLEEP_DISK },
		{ SYS_pread64, 0, 0, 0, SHALLOW, CALL_FILE_STORED, STATE_SLEEP_OTHER },
		{ SYS_read, 0, 0, 0, SHALLOW, CALL_FILE_OTHER, STATE_SLEEP_OTHER },
		{ SYS_read, 0, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_SLEEP },
		{ SYS_fsync, 0, 0, 0, DEEP, CALL_FILE_UNKNOWN, STATE_SLEEP_DISK },
		{ SYS_fsync, 0, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_SLEEP_OTHER },
		{ SYS_clock_nanosleep, 0, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_SLEEP_TIMER },
		{ SYS_wait4, 0, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_SLEEP_CHILD },
		{ SYS_ppoll, 0x10, 1, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_IDLE_POLL },
		{ SYS_ppoll, 0, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_SLEEP_TIMER },
		{ SYS_pselect6, 5, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_IDLE_POLL },
		{ SYS_pselect6, 0, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_SLEEP_TIMER },
		{ SYS_epoll_pwait, 5, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_IDLE_POLL },
		{ SYS_accept4, 5, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_IDLE_ACCEPT },
		{ SYS_futex, 0x10, 0x80, 2, SHALLOW, CALL_FILE_UNKNOWN, STATE_LOCK_FUTEX },
		{ SYS_futex, 0x10, 0x86, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_LOCK_FUTEX },
		{ SYS_futex, 0x10, 0x189, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_IDLE_COND },
		{ SYS_flock, 3, 2, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_LOCK_KERNEL },
		{ SYS_fcntl, 3, 7, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_LOCK_KERNEL },
		/* The upper half of an int is not the kernel's. */
		{ SYS_fcntl, 3, 0xffffffff00000007, 0, SHALLOW, CALL_FILE_UNKNOWN,
		  STATE_LOCK_KERNEL },
		{ SYS_ppoll, 0, 0xffffffff00000000, 0, SHALLOW, CALL_FILE_UNKNOWN,
		  STATE_SLEEP_TIMER },
		{ SYS_fcntl, 3, 6, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_SLEEP_OTHER },
		{ SYS_openat, 3, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_SLEEP },
		{ -1, 0, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_SLEEP_OTHER },
		{ INT32_MAX, 0, 0, 0, SHALLOW, CALL_FILE_UNKNOWN, STATE_SLEEP_OTHER },
	};

	for (size_t i = 0; i < array_length(rows); i++)
		assert_int_equal(of(rows[i].number, rows[i].first, rows[i].second, rows[i].third,
				    rows[i].is_deep, rows[i].file),
				 rows[i].state);
}

TEST(files_are_asked_for_where_they_decide)
{
	assert_true(call_state_needs_file(SYS_read));
	assert_false(call_state_needs_file(SYS_recvfrom));
	assert_false(call_state_needs_file(-1));
	assert_false(call_state_needs_file(INT32_MAX));
}

UNIT_TESTS(cmocka_unit_test(states_of_calls),
	   cmocka_unit_test(files_are_asked_for_where_they_decide))
