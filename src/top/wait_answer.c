/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/wait_answer.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"

/* The time for all that is read of a row, once a window. */
#define LOOK_NS (NS_PER_S / 2)

/* Threads of a group that are looked at: those with most of the leading state. */
#define MEMBERS_MOST 32

/* --- glances that agree --- */

static bool is_link_alike(const struct wait_link *a, const struct wait_link *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == LINK_LOCK)
		return a->lock.address == b->lock.address;
	return a->call.number == b->call.number && strcmp(a->object, b->object) == 0;
}

/* Do both wait for the same, up to so many links? */
static bool is_alike(const struct wait_chain *a, const struct wait_chain *b, size_t most)
{
	if (most > WAIT_CHAIN_MOST && a->count != b->count)
		return false;
	for (size_t i = 0; i < most && i < a->count && i < b->count; i++)
		if (!is_link_alike(&a->links[i], &b->links[i]))
			return false;
	return true;
}

/* The chain that most are like, and how many those are. */
static size_t commonest(const struct wait_chain *chains, size_t count, size_t most,
			uint32_t *ret_alike)
{
	size_t best = 0;

	*ret_alike = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t alike = 0;

		for (size_t k = 0; k < count; k++)
			alike += is_alike(&chains[i], &chains[k], most);
		if (alike > *ret_alike) {
			*ret_alike = alike;
			best = i;
		}
	}
	return best;
}

static bool is_over(const struct wait_look *look)
{
	return clock_ns(CLOCK_MONOTONIC) >= look->until_ns;
}

/* --- one thread --- */

/* Glances at one thread, until so many show it in the state that leads; the first ones are enough
 * if they agree in all: what the holder of a lock does may change by the microsecond. */
#define GLANCES_MOST 24
#define SEEN_MOST    8
#define SEEN_ENOUGH  3
#define GLANCE_GAP   4000000

#define WHOLE_CHAIN  (WAIT_CHAIN_MOST + 1)

static bool look_at_thread(struct wait_look *look, uint32_t tid, enum state lead,
			   struct wait_chain *ret)
{
	const struct timespec gap = { .tv_nsec = GLANCE_GAP };
	struct wait_chain *chains = calloc(SEEN_MOST, sizeof(*chains));
	uint32_t alike = 0;
	size_t seen = 0;

	for (int i = 0; chains && i < GLANCES_MOST && seen < SEEN_MOST && !is_over(look); i++) {
		/* A kernel that did not answer in time may do so now. */
		seen += wait_chain_follow(look, tid, &chains[seen]) &&
			wait_sentence_fits(lead, &chains[seen]);
		commonest(chains, seen, WHOLE_CHAIN, &alike);
		if (seen == SEEN_ENOUGH && alike == seen)
			break;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &gap, NULL);
	}
	if (seen)
		*ret = chains[commonest(chains, seen, WHOLE_CHAIN, &alike)];
	free(chains);
	return seen;
}

/* --- a group --- */

struct member {
	uint32_t tid;
	uint64_t ns; /* in the leading state */
};

static int by_time(const void *a, const void *b)
{
	const struct member *left = a, *right = b;

	return left->ns < right->ns ? 1 : left->ns > right->ns ? -1 : 0;
}

static struct error *look_at_members(struct wait_look *look, const struct state_line *lines,
				     size_t count, struct wait_answer *ret)
{
	struct member *members = calloc(count + 1, sizeof(*members));
	struct wait_chain *chains = calloc(MEMBERS_MOST, sizeof(*chains));
	size_t known = 0, seen = 0;

	if (members && chains) {
		for (size_t i = 0; i < count; i++) {
			const uint64_t ns = state_times_of(&lines[i].times, ret->lead);

			if (ns && !lines[i].thread->has_ended)
				members[known++] = (struct member){ lines[i].thread->tid, ns };
		}
		qsort(members, known, sizeof(*members), by_time);
		for (size_t i = 0; i < known && i < MEMBERS_MOST && !is_over(look); i++)
			seen += wait_chain_follow(look, members[i].tid, &chains[seen]) &&
				wait_sentence_fits(ret->lead, &chains[seen]);
		if (seen) {
			ret->chain = chains[commonest(chains, seen, 1, &ret->alike)];
			ret->has_chain = true;
		}
	}
	free(members);
	free(chains);
	return members && chains ? NULL : &error_no_memory;
}

/* --- both --- */

struct error *wait_answer_find(const struct wait_host *host, const struct state_line *line,
			       const struct state_line *members, size_t count, unsigned measured,
			       const char *remark, struct wait_answer *ret)
{
	const bool has_ended = line->thread && line->thread->has_ended;
	struct wait_look look = { .host = host, .until_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_NS };
	struct wait_sentence sentence;
	struct error *err = NULL;
	size_t length;
	FILE *out;

	ret->lead = wait_sentence_lead(line, measured);
	ret->sentence = NULL;
	ret->has_chain = false;
	ret->threads = count > 1 ? (uint32_t)count : 0;
	ret->alike = 0;
	if (host && ret->lead < STATE_COUNT && count > 1)
		err = look_at_members(&look, members, count, ret);
	else if (host && ret->lead < STATE_COUNT && !has_ended)
		ret->has_chain = look_at_thread(&look, line->thread->tid, ret->lead, &ret->chain);
	if (!err && ret->has_chain)
		wait_chain_name_ends(&look, &ret->chain);
	wait_look_deinit(&look);
	if (err)
		return err;
	sentence = (struct wait_sentence){
		.line = line,
		.measured = measured,
		.lead = ret->lead,
		.chain = ret->has_chain ? &ret->chain : NULL,
		.threads = ret->threads,
		.alike = ret->alike,
		.has_ended = has_ended && !ret->threads,
		.remark = remark,
	};
	out = open_memstream(&ret->sentence, &length);
	if (!out)
		return &error_no_memory;
	wait_sentence_print(out, &sentence);
	return file_close_memory(out, &ret->sentence) ? NULL : &error_no_memory;
}

void wait_answer_deinit(struct wait_answer *answer)
{
	free(answer->sentence);
	answer->sentence = NULL;
}
