/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Triggers: conditions on which a recorder saves the captures that it has kept in memory.
 *
 *	psi.cpu.some>20		a fact above a limit
 *	runnable>2*cpus		a fact above a limit per CPU
 *	SIGUSR1			a signal
 *
 * A trigger fires when its fact rises above the limit, and again only after it was at or below it:
 * a long incident fires once.
 *
 *	struct trigger trigger;
 *	struct error *err = trigger_parse("runnable>2*cpus", &trigger);
 *	if (!err)
 *		err = trigger_read(&trigger, proc, &seen, &value);
 *	if (!err && trigger_judge(&trigger, value, cpus, false))
 *		...
 */
#ifndef CAPTURE_TRIGGER_H
#define CAPTURE_TRIGGER_H

#include "base/error.h"
#include "base/text.h"

struct trigger_fact;

struct trigger {
	const char *text; /* as it was written: the caller's */
	int signal;       /* 0: it is about a fact */
	const struct trigger_fact *fact;
	double limit;
	bool for_each_cpu; /* the limit is */
	bool above;        /* the fact was above it when it was last judged */
};

/* Facts that are not in /proc. */
struct trigger_seen {
	uint64_t lost; /* threads that the last capture lost */
};

/* `text` must live as long as the trigger. Errors name what is nearest. */
struct error *trigger_parse(const char *text, struct trigger *ret) MUST_CHECK;

/* Read the current value of a trigger's fact; the trigger is not a signal, and `proc` is the
 * directory /proc. */
struct error *trigger_read(const struct trigger *trigger, int proc, const struct trigger_seen *seen,
			   double *ret) MUST_CHECK;

/* Does it fire? With `wait` it does not yet: it will when the fact is above the limit still, the
 * next time. */
bool trigger_judge(struct trigger *trigger, double value, unsigned cpus, bool wait);

#endif
