/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/worker_pool.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "unit/unit.h"

/* Work that lasts until somebody writes to a pipe; `freed` outlives it. */
struct work {
	struct worker_pool workers;
	int from;
	_Atomic bool *freed;
	_Atomic bool takes_signals;
};

static void release(struct work *work)
{
	_Atomic bool *freed = work->freed;

	if (!worker_pool_leave(&work->workers))
		return;
	free(work);
	atomic_store(freed, true);
}

static void *wait_for_word(void *context)
{
	struct work *work = context;
	sigset_t blocked;
	char word;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	atomic_store(&work->takes_signals, !sigismember(&blocked, SIGTERM));
	if (read(work->from, &word, 1) == 1)
		worker_pool_step(&work->workers);
	worker_pool_finish(&work->workers);
	release(work);
	return NULL;
}

static struct work *start(int from, _Atomic bool *freed)
{
	struct work *work = calloc(1, sizeof(*work));

	assert_non_null(work);
	worker_pool_init(&work->workers);
	work->from = from;
	work->freed = freed;
	assert_true(worker_pool_start(&work->workers, wait_for_word, work));
	return work;
}

static uint64_t soon(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + 50 * 1000 * 1000;
}

/* Its last user has freed the work. */
static void wait_until_freed(const _Atomic bool *freed, const int ends[2])
{
	while (!*freed)
		usleep(1000);
	close(ends[0]);
	close(ends[1]);
}

TEST(finished_workers_are_joined)
{
	_Atomic bool freed = false;
	struct work *work;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	work = start(ends[0], &freed);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_true(worker_pool_wait(&work->workers, 0));
	assert_false(worker_pool_workers(&work->workers));
	assert_false(work->workers.stop);
	assert_false(work->takes_signals);
	release(work);
	wait_until_freed(&freed, ends);
}

TEST(a_hanging_worker_is_abandoned_and_frees_the_shared_state)
{
	_Atomic bool freed = false;
	struct work *work;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	work = start(ends[0], &freed);
	assert_false(worker_pool_wait(&work->workers, soon()));
	assert_true(worker_pool_workers(&work->workers));
	assert_true(work->workers.stop);
	release(work);
	assert_false(freed);
	assert_int_equal(write(ends[1], "x", 1), 1);
	wait_until_freed(&freed, ends);
}

/* Without a deadline, the wait ends when nobody made a step for as long as the caller chose. */
TEST(patience_ends_a_wait)
{
	_Atomic bool freed = false;
	struct work *work;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	work = start(ends[0], &freed);
	work->workers.patience_ns = 50 * 1000 * 1000;
	assert_false(worker_pool_wait(&work->workers, 0));
	assert_int_equal(write(ends[1], "x", 1), 1);
	release(work);
	wait_until_freed(&freed, ends);
}

/* One who came back may be sent again. */
TEST(a_pool_is_reusable_after_hanging_workers_return)
{
	_Atomic bool freed = false;
	struct work *work;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	work = start(ends[0], &freed);
	assert_false(worker_pool_wait(&work->workers, soon()));
	assert_int_equal(write(ends[1], "xx", 2), 2);
	while (worker_pool_workers(&work->workers))
		usleep(1000);
	assert_true(worker_pool_start(&work->workers, wait_for_word, work));
	assert_false(work->workers.stop);
	assert_true(worker_pool_wait(&work->workers, 0));
	release(work);
	wait_until_freed(&freed, ends);
}

UNIT_TESTS(cmocka_unit_test(finished_workers_are_joined),
	   cmocka_unit_test(a_hanging_worker_is_abandoned_and_frees_the_shared_state),
	   cmocka_unit_test(patience_ends_a_wait),
	   cmocka_unit_test(a_pool_is_reusable_after_hanging_workers_return))
