/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Says in one sentence what a row of `ctprof top` does with its time, and what it waits for:
 *
 *	58 % waiting for lock 0x55d0 held by logger (5026), which is in fsync of /var/log/x;
 *	also 20 % running
 *
 * The percentages are of the window. The chain behind them is a glance at the end of the window
 * (wait_chain.h), so it is only told where its first link is in the state that leads.
 */
#ifndef TOP_WAIT_SENTENCE_H
#define TOP_WAIT_SENTENCE_H

#include <stdio.h>

#include "state/view.h"
#include "top/cpu_wait.h"
#include "top/wait_chain.h"

/* The state to explain, a main state or a part of STATE_SLEEP: the largest, without time that is
 * idle by choice (waits for work, and sleeps for a time) and short times on a CPU or waiting for
 * one, unless there is nothing else worth a word; STATE_COUNT if nothing is measured. */
enum state wait_sentence_lead(const struct state_line *line, unsigned measured);

/* The largest other wait that asks for an explanation; STATE_COUNT: there is none. */
enum state wait_sentence_second(const struct state_line *line, unsigned measured, enum state lead);

/* May the first link of the chain be in this state? */
bool wait_sentence_fits(enum state lead, const struct wait_chain *chain);

/* What is known of a row beside its states and its chain. */
struct wait_remarks {
	/* A lock that functions on its stacks tell, as a place, and the part of its waits but for a
	 * CPU; NULL: there is none. */
	const char *lock;
	double lock_share;
	const struct cpu_pinning *pinning; /* NULL: it may use the CPUs that were idle, if any */
	const char *remark;                /* further text for the end, or NULL */
};

struct wait_sentence {
	const struct state_line *line;
	unsigned measured;
	enum state lead;
	const struct wait_chain *chain; /* NULL: none is told */
	/* Of a group: its threads, and how many wait as the chain says; 0 for a thread. */
	uint32_t threads, alike;
	/* The same of a further state, which may be STATE_COUNT. */
	enum state second;
	const struct wait_chain *second_chain;
	uint32_t second_alike;
	bool has_ended;
	struct wait_remarks remarks;
};

/* Without a newline. */
void wait_sentence_print(FILE *out, const struct wait_sentence *sentence);

/* "in fsync of /x": what a link does, as words that follow "which is". The next link is the one
 * that it waits for; or NULL. */
void wait_link_print(FILE *out, const struct wait_link *link, const struct wait_link *next);

#endif
