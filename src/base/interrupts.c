/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/interrupts.h"

#include "base/array.h"

const int interrupts_numbers[INTERRUPTS_COUNT] = { SIGINT, SIGTERM, SIGHUP };

bool interrupts_is_ignored(int number)
{
	struct sigaction usual;

	return !sigaction(number, NULL, &usual) && usual.sa_handler == SIG_IGN;
}

void interrupts_add(sigset_t *set, int number)
{
	if (!interrupts_is_ignored(number))
		sigaddset(set, number);
}

void interrupts_hold(void (*handler)(int number), sigset_t *ret_before)
{
	const struct sigaction action = { .sa_handler = handler };
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < INTERRUPTS_COUNT; i++) {
		if (interrupts_is_ignored(interrupts_numbers[i]))
			continue;
		sigaction(interrupts_numbers[i], &action, NULL);
		sigaddset(&blocked, interrupts_numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, ret_before);
}

static volatile sig_atomic_t has_come;

/* Signals that the caller of ctprof ignores stay ignored. */
static volatile sig_atomic_t is_caught[INTERRUPTS_COUNT];

static void note_signal(int number)
{
	(void)number;
	has_come = 1;
	for (size_t i = 0; i < INTERRUPTS_COUNT; i++)
		if (is_caught[i])
			signal(interrupts_numbers[i], SIG_DFL);
}

void interrupts_catch(struct interrupts *ret)
{
	/* Without SA_RESTART: a system call that hangs is to end too. */
	const struct sigaction action = { .sa_handler = note_signal };
	sigset_t caught;

	has_come = 0;
	sigemptyset(&caught);
	for (size_t i = 0; i < INTERRUPTS_COUNT; i++) {
		sigaction(interrupts_numbers[i], NULL, &ret->before[i]);
		is_caught[i] = ret->before[i].sa_handler != SIG_IGN;
		if (!is_caught[i])
			continue;
		sigaction(interrupts_numbers[i], &action, NULL);
		sigaddset(&caught, interrupts_numbers[i]);
	}
	sigprocmask(SIG_UNBLOCK, &caught, &ret->mask);
}

bool interrupts_came(void)
{
	return has_come;
}

void interrupts_release(const struct interrupts *interrupts)
{
	sigprocmask(SIG_SETMASK, &interrupts->mask, NULL);
	for (size_t i = 0; i < INTERRUPTS_COUNT; i++)
		sigaction(interrupts_numbers[i], &interrupts->before[i], NULL);
}
