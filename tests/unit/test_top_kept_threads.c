/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/kept_threads.h"

#include "unit/unit.h"

static struct kept_thread *meet_kept(struct kept_threads *threads, uint32_t tid, uint64_t start)
{
	bool is_new;
	struct kept_thread *kept = kept_threads_at(threads, tid, start, &is_new);

	assert_non_null(kept);
	assert_true(kept_threads_met(threads, kept));
	return kept;
}

/* Two threads had the number 7: the first is said to have ended, once, as it was. */
TEST(a_number_that_is_used_again_is_another_thread)
{
	struct kept_threads threads = { 0 };
	struct state_reading reading = { 0 };
	uint64_t first;

	kept_threads_begin(&threads);
	meet_kept(&threads, 7, 1000)->reported.times.ns[STATE_EXEC] = 5;
	expect_ok(kept_threads_put(&threads, &reading));
	assert_int_equal(reading.threads.count, 1);
	assert_false(reading.threads.items[0].has_ended);
	first = reading.threads.items[0].id;

	reading.threads.count = 0;
	kept_threads_begin(&threads);
	meet_kept(&threads, 7, 2000);
	expect_ok(kept_threads_put(&threads, &reading));
	assert_int_equal(reading.threads.count, 2);
	assert_int_not_equal(reading.threads.items[0].id, first);
	assert_int_equal(reading.threads.items[0].times.ns[STATE_EXEC], 0);
	assert_int_equal(reading.threads.items[1].id, first);
	assert_true(reading.threads.items[1].has_ended);
	assert_int_equal(reading.threads.items[1].times.ns[STATE_EXEC], 5);

	reading.threads.count = 0;
	kept_threads_begin(&threads);
	expect_ok(kept_threads_put(&threads, &reading));
	assert_int_equal(reading.threads.count, 1);
	reading.threads.count = 0;
	kept_threads_begin(&threads);
	expect_ok(kept_threads_put(&threads, &reading));
	assert_int_equal(reading.threads.count, 0);
	array_deinit(&reading.threads);
	kept_threads_deinit(&threads);
}

/* A thread that the kernel still has, dead, is said to have ended once too. */
TEST(the_dead_are_named_once)
{
	struct kept_threads threads = { 0 };
	struct state_reading reading = { 0 };

	for (unsigned round = 0; round < 4; round++) {
		kept_threads_begin(&threads);
		if (round < 3)
			meet_kept(&threads, 7, 1000)->reported.has_ended = true;
		expect_ok(kept_threads_put(&threads, &reading));
	}
	assert_int_equal(reading.threads.count, 1);
	array_deinit(&reading.threads);
	kept_threads_deinit(&threads);
}

TEST(processes_are_called_as_their_leaders)
{
	static const struct name leader = { .length = 1 }, worker = { .length = 2 };
	struct kept_threads threads = { 0 };
	struct state_reading reading = { 0 };
	struct kept_thread *kept;

	kept_threads_begin(&threads);
	/* Numbers went round: a thread may have a smaller one than its leader. */
	kept = meet_kept(&threads, 3, 1);
	kept->reported.tgid = 4100;
	kept->reported.name = &worker;
	kept = meet_kept(&threads, 4100, 1);
	kept->reported.tgid = 4100;
	kept->reported.uid = 33;
	kept->reported.name = &leader;
	/* And of a process whose leader is not there. */
	kept = meet_kept(&threads, 5, 1);
	kept->reported.tgid = 4;
	kept->reported.name = &worker;
	expect_ok(kept_threads_put(&threads, &reading));
	assert_ptr_equal(reading.threads.items[0].process, &leader);
	assert_int_equal(reading.threads.items[0].uid, 33);
	assert_ptr_equal(reading.threads.items[1].process, &leader);
	assert_ptr_equal(reading.threads.items[2].process, &worker);
	array_deinit(&reading.threads);
	kept_threads_deinit(&threads);
}

/* 10,000 stay, and 5,000 are born and die each time: there is room for those of two times. */
TEST(places_of_the_dead_are_used_again)
{
	struct kept_threads threads = { 0 };
	struct state_reading reading = { 0 };
	size_t room = 0;

	for (uint32_t round = 0; round < 50; round++) {
		reading.threads.count = 0;
		kept_threads_begin(&threads);
		for (uint32_t tid = 1; tid <= 10000; tid++)
			meet_kept(&threads, tid, 1);
		for (uint32_t i = 0; i < 5000; i++)
			meet_kept(&threads, 10001 + (round * 5000 + i) % 20000, 2 + round);
		expect_ok(kept_threads_put(&threads, &reading));
		assert_int_equal(reading.threads.count, round ? 20000 : 15000);
		assert_int_equal(threads.used, 15000);
		assert_true(threads.slots.count <= 20000);
		if (round == 1)
			room = threads.slots.room + threads.met.room + threads.bucket_count +
			       reading.threads.room;
	}
	assert_int_equal(room, threads.slots.room + threads.met.room + threads.bucket_count +
				       reading.threads.room);
	array_deinit(&reading.threads);
	kept_threads_deinit(&threads);
}

UNIT_TESTS(cmocka_unit_test(a_number_that_is_used_again_is_another_thread),
	   cmocka_unit_test(the_dead_are_named_once),
	   cmocka_unit_test(processes_are_called_as_their_leaders),
	   cmocka_unit_test(places_of_the_dead_are_used_again))
