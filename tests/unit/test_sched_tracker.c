/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/tracker.h"

#include <string.h>

#include "sched/profile_record.h"
#include "unit/unit.h"

TEST(a_record_that_is_not_written)
{
	static const struct profile_record record = {
		.task = { .tid = 7, .since = 5, .ns = { 1, 2 } }, .counts = { 3 }
	};
	struct profile_record copy;

	assert_true(tracker_copy(&record.task, &copy, sizeof(copy)));
	assert_memory_equal(&copy, &record, sizeof(copy));
}

/* An odd sequence number: its CPU is writing. */
TEST(a_record_that_is_always_written)
{
	static struct task_record record = { .sequence = 1 };
	struct task_record copy;

	assert_false(tracker_copy(&record, &copy, sizeof(copy)));
	record.sequence++;
	assert_true(tracker_copy(&record, &copy, sizeof(copy)));
}

static struct tracker made_tracker(struct track_state *state, struct task_record *records)
{
	struct tracker tracker = { .state = state };

	tracker.records.entry_bytes = sizeof(*records);
	assert_true(array_push(&tracker.records.mapped, records));
	return tracker;
}

TEST(numbers_of_ended_tasks_are_used_again)
{
	static struct task_record records[RECORD_CHUNK];
	static struct track_state shared = { .next = 3, .room = RECORD_CHUNK };
	struct tracker tracker = made_tracker(&shared, records);

	records[2].tid = 7;
	assert_int_equal(tracker_count(&tracker), 3);
	assert_ptr_equal(tracker_record(&tracker, 2), &records[2]);
	assert_null(tracker_record(&tracker, 0));
	assert_null(tracker_record(&tracker, RECORD_CHUNK));
	assert_true(tracker_give_back(&tracker, 2));
	assert_int_equal(records[2].tid, 0);
	assert_int_equal(shared.free_numbers[0], 2);
	assert_int_equal(shared.free_tail, 1);
	/* The ring is full. */
	shared.free_tail = RECORDS_FREE;
	records[1].tid = 8;
	assert_false(tracker_give_back(&tracker, 1));
	assert_int_equal(records[1].tid, 8);
	array_deinit(&tracker.records.mapped);
}

UNIT_TESTS(cmocka_unit_test(a_record_that_is_not_written),
	   cmocka_unit_test(a_record_that_is_always_written),
	   cmocka_unit_test(numbers_of_ended_tasks_are_used_again))
