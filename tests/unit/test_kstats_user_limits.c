/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each user has of what can be listed, and what is told of the rest.
 */
#include "kstats/user_limits.h"

#include <stdio.h>

#include "unit/unit.h"

static void omit(struct user_limits *limits, uint32_t user, uint32_t pid, enum user_omission why,
		 const char *name)
{
	struct user_omitted omitted = {
		.user = user, .pid = pid, .why = why, .is_of_one = true, .count = 1
	};

	snprintf(omitted.name, sizeof(omitted.name), "%s", name);
	assert_true(user_limits_omit(limits, &omitted));
}

TEST(omissions_are_a_line_per_user_and_reason)
{
	static const char *const lines[] = {
		"metric 7:spin (uid 1000) omitted: being reset continuously",
		"3 metrics of process 7 (uid 1000) omitted: limit of 1024 metrics of a process",
		"2 metrics of uid 1001 (the first: 8) omitted: limit of 1024 metrics of a process",
		"metrics of process 9 (uid 1001) omitted: the kernel did not answer for 5 s",
		("metrics of 2 processes of uid 1001 (the first: 10) omitted: limit of 3 s for the "
		 "processes of a user"),
	};
	struct user_limits limits = { 0 };
	struct kstats_notes notes = { 0 };

	omit(&limits, 1000, 7, USER_OMITTED_RESETS, "spin");
	for (unsigned i = 0; i < 3; i++)
		omit(&limits, 1000, 7, USER_OMITTED_PROCESS_METRICS, "a");
	omit(&limits, 1001, 8, USER_OMITTED_PROCESS_METRICS, "a");
	omit(&limits, 1001, 9, USER_OMITTED_PROCESS_METRICS, "a");
	omit(&limits, 1001, 9, USER_OMITTED_HANGS, "");
	omit(&limits, 1001, 10, USER_OMITTED_TIME, "");
	omit(&limits, 1001, 11, USER_OMITTED_TIME, "");
	expect_ok(user_limits_notes(&limits, &notes));
	assert_int_equal(notes.count, array_length(lines));
	for (size_t i = 0; i < notes.count; i++)
		assert_string_equal(notes.items[i], lines[i]);
	kstats_notes_clear(&notes);
	user_limits_deinit(&limits);
}

/* One user has used what there is, and the next one is served. */
TEST(limits_are_of_one_user)
{
	struct user_limits limits = { 0 };
	enum user_omission why;

	*user_limits_share(&limits, 1000) = (struct user_share){
		.user = 1000,
		.metrics = USER_METRICS_MAX,
		.slots = USER_SLOTS_MAX,
		.time_ns = USER_TIME_NS,
	};
	user_limits_share(&limits, 1002)->hangs = USER_HANGS_MAX;
	user_limits_share(&limits, 1003)->bytes = USER_BYTES_MAX;
	assert_true(user_limits_refuse_metric(&limits, user_limits_share(&limits, 1000), 0, &why));
	assert_int_equal(why, USER_OMITTED_METRICS);
	assert_true(user_limits_refuse_metric(&limits, user_limits_share(&limits, 1003), 0, &why));
	assert_int_equal(why, USER_OMITTED_BYTES);
	assert_int_equal(user_limits_slots(&limits, user_limits_share(&limits, 1000), &why), 0);
	assert_true(user_limits_refuse_process(&limits, user_limits_share(&limits, 1000), &why));
	assert_int_equal(why, USER_OMITTED_TIME);
	assert_true(user_limits_refuse_process(&limits, user_limits_share(&limits, 1002), &why));
	assert_int_equal(why, USER_OMITTED_AFTER_HANG);
	assert_false(user_limits_refuse_metric(&limits, user_limits_share(&limits, 1001), 0, &why));
	assert_false(user_limits_refuse_process(&limits, user_limits_share(&limits, 1001), &why));
	assert_true(user_limits_slots(&limits, user_limits_share(&limits, 1001), &why) ==
		    USER_SLOTS_MAX);
	assert_true(user_limits_refuse_metric(&limits, user_limits_share(&limits, 1001),
					      USER_PROCESS_METRICS_MAX, &why));
	assert_int_equal(why, USER_OMITTED_PROCESS_METRICS);
	limits.all.metrics = USER_ALL_METRICS_MAX;
	limits.all.slots = USER_ALL_SLOTS_MAX - 1;
	assert_true(user_limits_refuse_metric(&limits, user_limits_share(&limits, 1001), 0, &why));
	assert_int_equal(why, USER_OMITTED_ALL_METRICS);
	assert_int_equal(user_limits_slots(&limits, user_limits_share(&limits, 1001), &why), 1);
	assert_int_equal(why, USER_OMITTED_ALL_SLOTS);
	user_limits_deinit(&limits);
}

TEST(users_together_leave_root_its_processes)
{
	struct user_limits limits = { .all = { .hangs = USER_ALL_HANGS_MAX } };
	enum user_omission why;

	assert_true(user_limits_refuse_process(&limits, user_limits_share(&limits, 1000), &why));
	assert_int_equal(why, USER_OMITTED_AFTER_HANG);
	assert_false(user_limits_refuse_process(&limits, user_limits_share(&limits, 0), &why));
	user_limits_share(&limits, 0)->hangs = USER_ALL_HANGS_MAX;
	assert_true(user_limits_refuse_process(&limits, user_limits_share(&limits, 0), &why));
	user_limits_deinit(&limits);
}

UNIT_TESTS(cmocka_unit_test(omissions_are_a_line_per_user_and_reason),
	   cmocka_unit_test(limits_are_of_one_user),
	   cmocka_unit_test(users_together_leave_root_its_processes))
