/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/guard.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit/unit.h"

enum { OURS = 1, THEIRS = 2, THEIRS_TOO = 3, NOT_TOLD = 4 };

/* A pipe: whose process NOT_TOLD is, is told when there is a word in it. */
static int told_by;

/* Processes 2 and 3 are of one subject. */
static uint64_t subject_of(uint32_t pid)
{
	char word;

	if (pid == NOT_TOLD && read(told_by, &word, 1) != 1)
		abort();
	return pid == THEIRS_TOO ? THEIRS : pid;
}

static const struct guard_options patient = {
	.subject_of = subject_of,
	.patience_ns = 50 * NS_PER_S / 1000,
	.part = 2,
	.advance_ns = 3600 * NS_PER_S,
};

/* A call about a process that lasts until there is a word. */
struct job {
	int from;
	uint32_t pid;
	bool *is_done;          /* the caller's */
	_Atomic bool *is_freed; /* outlives all */
};

static void release(void *argument)
{
	const struct job *job = argument;
	_Atomic bool *is_freed = job->is_freed;

	free(argument);
	atomic_store(is_freed, true);
}

static void call(void *argument)
{
	const struct job *job = argument;
	char word;

	guard_about(job->pid);
	if (!guard_enter())
		return;
	if (read(job->from, &word, 1) != 1)
		abort();
	guard_leave();
	*job->is_done = true;
}

static struct job *create_job(int from, uint32_t pid, bool *is_done, _Atomic bool *is_freed)
{
	struct job *job = malloc(sizeof(*job));

	assert_non_null(job);
	*job = (struct job){ from, pid, is_done, is_freed };
	*is_done = false;
	*is_freed = false;
	return job;
}

static void wait_until(const _Atomic bool *is_it)
{
	while (!atomic_load(is_it))
		usleep(1000);
}

/* Does a call about the process take place? There is a word for it. */
static bool is_answered(struct guard *guard, const int ends[2], uint32_t pid)
{
	_Atomic bool is_freed;
	struct job *job;
	bool is_done;
	char word;

	/* On a busy host any call may take too long. */
	for (;;) {
		job = create_job(ends[0], pid, &is_done, &is_freed);
		assert_int_equal(write(ends[1], "", 1), 1);
		if (guard_run(guard, call, job, release))
			break;
		wait_until(&is_freed);
	}
	release(job);
	if (!is_done)
		assert_int_equal(read(ends[0], &word, 1), 1);
	return is_done;
}

TEST(work_is_waited_for)
{
	struct guard *guard = guard_create(&patient);
	int ends[2];

	assert_non_null(guard);
	assert_int_equal(pipe(ends), 0);
	for (size_t i = 0; i < 3; i++)
		assert_true(is_answered(guard, ends, OURS));
	/* By the caller itself. */
	assert_true(is_answered(NULL, ends, OURS));
	guard_destroy(guard);
	guard_destroy(NULL);
	close(ends[0]);
	close(ends[1]);
}

TEST(a_call_that_hangs_is_given_up)
{
	struct guard *guard = guard_create(&patient);
	int hangs[2], ends[2];
	_Atomic bool is_freed;
	bool is_done;

	assert_int_equal(pipe(hangs), 0);
	assert_int_equal(pipe(ends), 0);
	assert_false(
		guard_run(guard, call, create_job(hangs[0], THEIRS, &is_done, &is_freed), release));
	assert_false(is_freed);
	/* While it hangs, no other call about the same user is made; others are. */
	assert_false(is_answered(guard, ends, THEIRS_TOO));
	assert_true(is_answered(guard, ends, OURS));
	/* When it returns, its thread ends there, and frees what it worked on. */
	assert_int_equal(write(hangs[1], "", 1), 1);
	wait_until(&is_freed);
	assert_false(is_done);
	assert_true(is_answered(guard, ends, THEIRS));
	guard_destroy(guard);
	close(hangs[0]);
	close(hangs[1]);
	close(ends[0]);
	close(ends[1]);
}

TEST(slow_calls_use_up_the_time_of_a_subject)
{
	struct guard_options options = patient;
	struct guard *guard;
	int hangs[2], ends[2];
	_Atomic bool is_freed;
	bool is_done;

	/* What is used up is not there again while the test runs. */
	options.part = 1 << 20;
	options.advance_ns = NS_PER_S;
	guard = guard_create(&options);
	assert_int_equal(pipe(hangs), 0);
	assert_int_equal(pipe(ends), 0);
	assert_false(
		guard_run(guard, call, create_job(hangs[0], THEIRS, &is_done, &is_freed), release));
	assert_int_equal(write(hangs[1], "", 1), 1);
	wait_until(&is_freed);
	assert_false(is_answered(guard, ends, THEIRS));
	guard_destroy(guard);
	close(hangs[0]);
	close(hangs[1]);
	close(ends[0]);
	close(ends[1]);
}

TEST(fast_users_keep_their_budget)
{
	struct guard_options options = patient;
	struct guard *guard;
	int hangs[2], ends[2];
	_Atomic bool is_freed;
	bool is_done;

	options.patience_ns = NS_PER_S;
	options.advance_ns = 0;
	guard = guard_create(&options);
	assert_int_equal(pipe(hangs), 0);
	assert_int_equal(pipe(ends), 0);
	assert_false(
		guard_run(guard, call, create_job(hangs[0], THEIRS, &is_done, &is_freed), release));
	/* Now the time for all is used up. */
	assert_true(is_answered(guard, ends, OURS));
	assert_false(is_answered(guard, ends, THEIRS_TOO));
	assert_int_equal(write(hangs[1], "", 1), 1);
	wait_until(&is_freed);
	guard_destroy(guard);
	close(hangs[0]);
	close(hangs[1]);
	close(ends[0]);
	close(ends[1]);
}

TEST(finding_the_user_may_hang_too)
{
	struct guard *guard = guard_create(&patient);
	int hangs[2], ends[2];
	_Atomic bool is_freed;
	bool is_done;

	assert_int_equal(pipe(hangs), 0);
	assert_int_equal(pipe(ends), 0);
	told_by = hangs[0];
	assert_false(guard_run(guard, call, create_job(ends[0], NOT_TOLD, &is_done, &is_freed),
			       release));
	assert_true(is_answered(guard, ends, OURS));
	assert_int_equal(write(hangs[1], "", 1), 1);
	wait_until(&is_freed);
	guard_destroy(guard);
	close(hangs[0]);
	close(hangs[1]);
	close(ends[0]);
	close(ends[1]);
}

/* What each of them leaves open is bounded. */
TEST(a_subject_that_hangs_again_and_again_is_refused_for_good)
{
	struct guard *guard = guard_create(&patient);
	int hangs[2], ends[2];

	assert_non_null(guard);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(hangs), 0);
	for (unsigned i = 0; i < GUARD_GIVEN_UP_MAX; i++) {
		_Atomic bool is_freed;
		bool is_done;

		assert_false(guard_run(guard, call,
				       create_job(hangs[0], THEIRS, &is_done, &is_freed), release));
		assert_int_equal(write(hangs[1], "", 1), 1);
		wait_until(&is_freed);
	}
	assert_false(is_answered(guard, ends, THEIRS));
	assert_true(is_answered(guard, ends, OURS));
	guard_destroy(guard);
	close(hangs[0]);
	close(hangs[1]);
	close(ends[0]);
	close(ends[1]);
}

TEST(hanging_work_outlives_the_guard)
{
	struct guard *guard = guard_create(&patient);
	_Atomic bool is_freed;
	int hangs[2];
	bool is_done;

	assert_int_equal(pipe(hangs), 0);
	assert_false(
		guard_run(guard, call, create_job(hangs[0], THEIRS, &is_done, &is_freed), release));
	guard_destroy(guard);
	assert_false(is_freed);
	assert_int_equal(write(hangs[1], "", 1), 1);
	wait_until(&is_freed);
	close(hangs[0]);
	close(hangs[1]);
}

/* Work within work. */
struct outer {
	struct guard *guard;
	struct job *inner;
	_Atomic bool *is_freed;
};

static void run_inner(void *argument)
{
	const struct outer *outer = argument;

	if (!guard_run(outer->guard, call, outer->inner, release))
		abort();
	release(outer->inner);
}

static void release_outer(void *argument)
{
	const struct outer *outer = argument;
	_Atomic bool *is_freed = outer->is_freed;

	free(argument);
	atomic_store(is_freed, true);
}

static struct outer *create_outer(struct guard *guard, struct job *inner, _Atomic bool *is_freed)
{
	struct outer *outer = malloc(sizeof(*outer));

	assert_non_null(outer);
	*outer = (struct outer){ guard, inner, is_freed };
	*is_freed = false;
	return outer;
}

TEST(work_within_work_is_given_up_with_it)
{
	struct guard *guard = guard_create(&patient);
	_Atomic bool is_freed, is_outer_freed;
	struct outer *outer;
	int ends[2];
	bool is_done;

	assert_int_equal(pipe(ends), 0);
	outer = create_outer(guard, create_job(ends[0], THEIRS, &is_done, &is_freed),
			     &is_outer_freed);
	assert_false(guard_run(guard, run_inner, outer, release_outer));
	assert_int_equal(write(ends[1], "", 1), 1);
	wait_until(&is_freed);
	wait_until(&is_outer_freed);
	assert_false(is_done);
	guard_destroy(guard);
	close(ends[0]);
	close(ends[1]);
}

/* --- without threads --- */

static unsigned works, releases;

static void count_work(void *argument)
{
	(void)argument;
	works++;
}

static void count_release(void *argument)
{
	(void)argument;
	releases++;
}

static bool says_why(struct error *err)
{
	bool says = err && strstr(err->message, "cannot start a thread to test") != NULL;

	error_destroy(err);
	return says;
}

/* Work on what belongs to others is not done by the caller, who is not confined. */
static int run_without_threads(void)
{
	struct guard *guard = guard_create(&patient);
	const struct rlimit none = { 0 };

	/* No limit holds for root. */
	if ((getuid() == 0 && setresuid(65534, 65534, 65534)) || setrlimit(RLIMIT_NPROC, &none))
		return 2;
	if (guard_run(guard, count_work, NULL, count_release) || releases != 1)
		return 3;
	if (guard_run_whole(guard, count_work, NULL) || guard_without_thread(guard) != 2)
		return 4;
	if (!says_why(guard_start(guard, "test")))
		return 5;
	if (!says_why(thread_run_confined(THREAD_PARSER, count_work, NULL, "test")))
		return 6;
	guard_destroy(guard);
	return works ? 7 : 0;
}

TEST(work_is_not_done_without_a_thread)
{
	const pid_t child = fork();
	int status;

	if (!child)
		_exit(run_without_threads());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

TEST(a_thread_can_be_started_before_there_is_work)
{
	struct guard *guard = guard_create(&patient);

	assert_null(guard_start(guard, "test"));
	assert_null(guard_start(guard, "test"));
	assert_true(guard_run_whole(guard, count_work, NULL));
	assert_int_equal(guard_without_thread(guard), 0);
	guard_destroy(guard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_waited_for),
		cmocka_unit_test(a_call_that_hangs_is_given_up),
		cmocka_unit_test(slow_calls_use_up_the_time_of_a_subject),
		cmocka_unit_test(fast_users_keep_their_budget),
		cmocka_unit_test(finding_the_user_may_hang_too),
		cmocka_unit_test(a_subject_that_hangs_again_and_again_is_refused_for_good),
		cmocka_unit_test(hanging_work_outlives_the_guard),
		cmocka_unit_test(work_within_work_is_given_up_with_it),
		cmocka_unit_test(work_is_not_done_without_a_thread),
		cmocka_unit_test(a_thread_can_be_started_before_there_is_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
