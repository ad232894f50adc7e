/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ending something that takes long by SIGINT, SIGTERM or SIGHUP, and going on with what comes after
 * it. The second such signal ends the program, by its default action.
 *
 *	struct interrupts interrupts;
 *	interrupts_catch(&interrupts);
 *	while (!interrupts_came() && work())
 *		;
 *	interrupts_release(&interrupts);
 *
 * Signals that are ignored stay ignored. One user at a time, and in the main thread.
 */
#ifndef BASE_INTERRUPTS_H
#define BASE_INTERRUPTS_H

#include <signal.h>
#include <stdbool.h>

#define INTERRUPTS_COUNT 3

extern const int interrupts_numbers[INTERRUPTS_COUNT];

/* Was ctprof started with this signal ignored, as shells do for SIGINT in the background? Such a
 * signal must be neither caught nor waited for. */
bool interrupts_is_ignored(int number);

/* Add a signal to those that are waited for, unless it is ignored: one that is blocked comes even
 * so. */
void interrupts_add(sigset_t *set, int number);

/* Call `handler` for these signals, and block them: from then on, only a ppoll(2) with the mask
 * `*ret_before`, the one until now, lets them in. */
void interrupts_hold(void (*handler)(int number), sigset_t *ret_before);

struct interrupts {
	struct sigaction before[INTERRUPTS_COUNT];
	sigset_t mask;
};

/* Signals that were blocked are let through until interrupts_release; one that is pending by now
 * counts as well. */
void interrupts_catch(struct interrupts *ret);

/* Since the last interrupts_catch. */
bool interrupts_came(void);

/* All is as it was before. */
void interrupts_release(const struct interrupts *interrupts);

#endif
