/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/state_session.h"

#include "unit/unit.h"

/* It has run since 70: the wait that began at 10 is over, and from 60 on it was runnable. */
TEST(an_unwritten_record)
{
	const struct task_record record = { .tid = 7,
					    .sequence = 2,
					    .state = STATE_IDLE,
					    .since = 10,
					    .woken = 60,
					    .entered = 70 };
	struct task_record copy;

	assert_true(state_session_copy(&record, &copy));
	assert_int_equal(copy.state, STATE_EXEC);
	assert_int_equal(copy.since, 70);
	assert_int_equal(copy.ns[states_places[STATE_IDLE]], 50);
	assert_int_equal(copy.ns[states_places[STATE_RUNNABLE]], 10);
}

/* Its writer was held up halfway. */
TEST(a_record_that_is_being_written)
{
	const struct task_record record = { .tid = 7, .sequence = 3, .state = STATE_EXEC };
	struct task_record copy;

	assert_false(state_session_copy(&record, &copy));
}

/* Nobody has said yet what it does, which is no failure. */
TEST(a_record_without_a_state)
{
	const struct task_record record = { .tid = 7, .state = STATE_COUNT };
	struct task_record copy;

	assert_true(state_session_copy(&record, &copy));
	assert_int_equal(copy.state, STATE_COUNT);
}

UNIT_TESTS(cmocka_unit_test(an_unwritten_record), cmocka_unit_test(a_record_that_is_being_written),
	   cmocka_unit_test(a_record_without_a_state))
