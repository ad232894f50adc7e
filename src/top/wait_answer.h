/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks for what a row waits for, until it is seen in the state that leads its window, and says it.
 */
#ifndef TOP_WAIT_ANSWER_H
#define TOP_WAIT_ANSWER_H

#include "base/error.h"
#include "top/wait_sentence.h"

/* What was seen of a row in a state. */
struct seen_wait {
	enum state state; /* STATE_COUNT: there is none to explain */
	bool is_there;
	struct wait_chain chain;
	uint32_t alike; /* glances, or threads of a group, that showed the same */
};

/* Waits for a CPU below this share need no remark. */
#define WAIT_RUNNABLE_LEAST 0.05

struct wait_answer {
	char *sentence;   /* one line, safe to print; owned */
	uint32_t threads; /* as in struct wait_sentence */
	struct seen_wait first, second;
	uint64_t cpu_ns; /* of the confined thread, as in struct wait_look */
};

/*
 * The answer for a line of the window. `members`: the lines of a group's threads; none for a
 * thread. `host` is NULL where there is nothing to look at, as in a recording; the rest as in
 * struct wait_sentence.
 */
struct error *wait_answer_find(const struct wait_host *host, const struct state_line *line,
			       const struct state_line *members, size_t count, unsigned measured,
			       const struct wait_remarks *remarks,
			       struct wait_answer *ret) MUST_CHECK;
void wait_answer_deinit(struct wait_answer *answer);

#endif
