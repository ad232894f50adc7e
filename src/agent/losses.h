/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was lost, summed up by sink, kind and reason, and kept in a file: an agent that is killed
 * has counted what it dropped.
 *
 * Removing a file and counting it are two steps. So that a kill between them neither forgets nor
 * repeats a count, the file of losses also names those that are removed after it was written: what
 * it names and is still there was counted, and has only to be removed.
 */
#ifndef AGENT_LOSSES_H
#define AGENT_LOSSES_H

#include "agent/interval.h"
#include "base/array.h"

/* The most kinds of losses; further ones are summed up as other things. */
#define LOSSES_MOST  256
#define LOSSES_OTHER "other things"

/* A file that has been counted: that of a request, in the folder of a sink. */
struct losses_removal {
	char *sink;
	uint64_t id;
};

/* All zero is none. */
struct losses {
	ARRAY(struct agent_loss); /* their texts are owned */
	struct {
		ARRAY(struct losses_removal);
	} removals;
};

/* False: no memory. */
bool losses_add(struct losses *losses, const char *sink, struct text what, const char *why,
		uint64_t count);
bool losses_add_removal(struct losses *losses, const char *sink, uint64_t id);

/* Subtract what has been handed out: the first `count` items with these numbers. Removes those of
 * which nothing is left. */
void losses_subtract(struct losses *losses, const uint64_t *numbers, size_t count);

void losses_forget_removals(struct losses *losses);

/* Replace the file in the directory. */
struct error *losses_write(const struct losses *losses, int dir) MUST_CHECK;
/* Read it, if it is there: any bytes. An error if it is damaged: nothing is taken of it. */
struct error *losses_read(struct losses *losses, int dir) MUST_CHECK;
/* The same of bytes that are given. */
struct error *losses_parse(struct losses *losses, struct text bytes) MUST_CHECK;

void losses_deinit(struct losses *losses);

#endif
