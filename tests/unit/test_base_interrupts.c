/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/interrupts.h"

#include <sys/wait.h>
#include <unistd.h>

#include "unit/unit.h"

/* nohup(1) and shells in the background ignore some of them. */
static void reset_signals(void)
{
	sigset_t none;

	for (size_t i = 0; i < INTERRUPTS_COUNT; i++)
		signal(interrupts_numbers[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What a child does: its status as waitpid(2) has it. */
static int status_of(int (*work)(int number), int number)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		reset_signals();
		_exit(work(number));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int once(int number)
{
	struct interrupts interrupts;

	interrupts_catch(&interrupts);
	if (interrupts_came())
		return 1;
	raise(number);
	if (!interrupts_came())
		return 2;
	interrupts_release(&interrupts);
	interrupts_catch(&interrupts);
	return interrupts_came() ? 3 : 0;
}

static int twice(int number)
{
	struct interrupts interrupts;

	interrupts_catch(&interrupts);
	raise(SIGINT);
	raise(number);
	return 0;
}

static int afterwards(int number)
{
	struct interrupts interrupts;

	interrupts_catch(&interrupts);
	raise(number);
	interrupts_release(&interrupts);
	raise(number);
	return 0;
}

static int pending(int number)
{
	struct interrupts interrupts;
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, number);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	raise(number);
	interrupts_catch(&interrupts);
	if (!interrupts_came())
		return 1;
	interrupts_release(&interrupts);
	/* It is blocked again. */
	raise(number);
	return 0;
}

static volatile sig_atomic_t held;

static void note_held(int number)
{
	held = number;
}

static int waits_for_the_mask(int number)
{
	sigset_t before;

	interrupts_hold(note_held, &before);
	raise(number);
	if (held)
		return 1;
	sigsuspend(&before);
	return held == number ? 0 : 2;
}

static int held_but_ignored(int number)
{
	sigset_t before, pending;

	signal(number, SIG_IGN);
	interrupts_hold(note_held, &before);
	raise(number);
	sigpending(&pending);
	return sigismember(&pending, number);
}

static int ignored(int number)
{
	struct interrupts interrupts;

	signal(number, SIG_IGN);
	interrupts_catch(&interrupts);
	raise(number);
	if (interrupts_came())
		return 1;
	interrupts_release(&interrupts);
	raise(number);
	return 0;
}

/* One that was ignored does not end the program after another has come. */
static int ignored_beside(int number)
{
	const int other = number == SIGTERM ? SIGINT : SIGTERM;
	struct interrupts interrupts;

	signal(number, SIG_IGN);
	interrupts_catch(&interrupts);
	raise(other);
	raise(number);
	return 0;
}

TEST(the_first_ends_the_work_and_the_second_the_program)
{
	for (size_t i = 0; i < INTERRUPTS_COUNT; i++) {
		const int number = interrupts_numbers[i];

		assert_int_equal(status_of(once, number), 0);
		assert_int_equal(status_of(twice, number), number);
		assert_int_equal(status_of(afterwards, number), number);
		assert_int_equal(status_of(pending, number), 0);
		assert_int_equal(status_of(ignored, number), 0);
		assert_int_equal(status_of(ignored_beside, number), 0);
	}
}

TEST(held_signals_come_with_the_mask_of_before)
{
	for (size_t i = 0; i < INTERRUPTS_COUNT; i++) {
		assert_int_equal(status_of(waits_for_the_mask, interrupts_numbers[i]), 0);
		assert_int_equal(status_of(held_but_ignored, interrupts_numbers[i]), 0);
	}
}

UNIT_TESTS(cmocka_unit_test(the_first_ends_the_work_and_the_second_the_program),
	   cmocka_unit_test(held_signals_come_with_the_mask_of_before))
