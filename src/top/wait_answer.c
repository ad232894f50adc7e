/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/wait_answer.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "top/glance.h"

/* The time for all that is read of a row, once a window, for each of two states. */
#define LOOK_NS (NS_PER_S / 4)

/* Threads of a group that are looked at: those with most of the state. */
#define MEMBERS_MOST 32

/* --- glances that agree --- */

static bool is_link_alike(const struct wait_link *a, const struct wait_link *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == LINK_LOCK)
		return a->lock.address == b->lock.address;
	if (a->kind == LINK_KERNEL_LOCK)
		return a->kernel.owner == b->kernel.owner &&
		       a->kernel.is_memory == b->kernel.is_memory;
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

/* May a later glance tell more? Of a holder of a lock that runs or waits for a CPU, the system call
 * that it is in all the same; of a lock that just changes hands, its holder. */
static bool is_vague(const struct wait_chain *chain)
{
	const struct wait_link *last = &chain->links[chain->count - 1];

	return chain->count > 1 ? last->kind == LINK_RUNS
				: last->kind == LINK_LOCK && !last->has_next;
}

/* The chain to tell of those that begin alike: the commonest, unless it is vague and
 * another is not. */
static size_t most_telling(const struct wait_chain *chains, size_t count, size_t most,
			   uint32_t *ret_alike)
{
	const size_t best = commonest(chains, count, most, ret_alike);

	for (size_t i = 0; is_vague(&chains[best]) && i < count; i++)
		if (!is_vague(&chains[i]) && is_alike(&chains[i], &chains[best], 1))
			return i;
	return best;
}

static bool is_over(const struct wait_look *look)
{
	return clock_ns(CLOCK_MONOTONIC) >= look->until_ns;
}

/* --- one thread --- */

/* Glances at a row, until so many show it in the state that is to be explained; the first ones are
 * enough if they agree in all: what the holder of a lock does may change by the microsecond. */
#define GLANCES_MOST 24
#define SEEN_MOST    8
#define SEEN_ENOUGH  3
#define GLANCE_GAP   4000000

#define WHOLE_CHAIN  (WAIT_CHAIN_MOST + 1)

static void wait_for_next_glance(void)
{
	const struct timespec gap = { .tv_nsec = GLANCE_GAP };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &gap, NULL);
}

static struct error *look_at_thread(struct wait_look *look, uint32_t tid, enum state state,
				    struct seen_wait *ret)
{
	struct wait_chain *chains = calloc(SEEN_MOST, sizeof(*chains));
	size_t seen = 0;

	if (!chains)
		return &error_no_memory;
	for (int i = 0; i < GLANCES_MOST && seen < SEEN_MOST && !is_over(look); i++) {
		/* A kernel that did not answer in time may do so now. */
		seen += wait_chain_follow(look, tid, &chains[seen]) &&
			wait_sentence_fits(state, &chains[seen]);
		commonest(chains, seen, WHOLE_CHAIN, &ret->alike);
		if (seen == SEEN_ENOUGH && ret->alike == seen && !is_vague(&chains[0]))
			break;
		wait_for_next_glance();
	}
	if (seen)
		ret->chain = chains[most_telling(chains, seen, WHOLE_CHAIN, &ret->alike)];
	ret->is_there = seen;
	free(chains);
	return NULL;
}

/* --- a group --- */

struct member {
	uint32_t tid;
	uint64_t ns; /* in the state */
};

static int by_time(const void *a, const void *b)
{
	const struct member *left = a, *right = b;

	return left->ns < right->ns ? 1 : left->ns > right->ns ? -1 : 0;
}

/* Look at each once. An earlier result is only replaced by one that is less vague. */
static void look_at_each(struct wait_look *look, const struct member *members, size_t count,
			 enum state state, struct wait_chain *chains, struct seen_wait *ret)
{
	const struct wait_chain *best;
	uint32_t alike;
	size_t seen = 0;

	for (size_t i = 0; i < count && i < MEMBERS_MOST && !is_over(look); i++)
		seen += wait_chain_follow(look, members[i].tid, &chains[seen]) &&
			wait_sentence_fits(state, &chains[seen]);
	if (!seen)
		return;
	best = &chains[most_telling(chains, seen, 1, &alike)];
	if (ret->is_there && (is_vague(best) || !is_alike(best, &ret->chain, 1)))
		return;
	ret->is_there = true;
	ret->chain = *best;
	ret->alike = alike;
}

/* The threads that were in the state, those with most of it first. */
static size_t list_members(const struct state_line *lines, size_t count, enum state state,
			   struct member *ret)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t ns = state_times_of(&lines[i].times, state);

		if (ns && !lines[i].thread->has_ended)
			ret[known++] = (struct member){ lines[i].thread->tid, ns };
	}
	qsort(ret, known, sizeof(*ret), by_time);
	return known;
}

/* The youngest threads of a process now: those of the window may all have ended. */
static size_t list_youngest(struct wait_look *look, const struct state_line *lines, size_t count,
			    struct member ret[MEMBERS_MOST])
{
	const uint32_t tgid = lines[0].thread->tgid;
	struct tids tids = { 0 };
	size_t known = 0;

	for (size_t i = 1; i < count; i++)
		if (lines[i].thread->tgid != tgid)
			return 0;
	if (wait_look_threads(look, tgid, &tids))
		while (known < MEMBERS_MOST && known < tids.count) {
			ret[known] = (struct member){ tids.items[tids.count - 1 - known], 0 };
			known++;
		}
	array_deinit(&tids);
	return known;
}

/* A thread is rarely in a state that is a small part of its time: look several times. */
static struct error *look_at_members(struct wait_look *look, const struct state_line *lines,
				     size_t count, enum state state, struct seen_wait *ret)
{
	struct member *members = calloc(count + MEMBERS_MOST, sizeof(*members));
	struct wait_chain *chains = calloc(MEMBERS_MOST, sizeof(*chains));
	size_t known;

	if (members && chains) {
		known = list_members(lines, count, state, members);
		for (int i = 0; i < GLANCES_MOST && !is_over(look); i++) {
			if (i)
				wait_for_next_glance();
			look_at_each(look, members, known, state, chains, ret);
			if (ret->is_there && !is_vague(&ret->chain))
				break;
			if (i % 2 == 0 && !ret->is_there)
				known = list_youngest(look, lines, count, members);
			else if (!ret->is_there)
				known = list_members(lines, count, state, members);
		}
	}
	free(members);
	free(chains);
	return members && chains ? NULL : &error_no_memory;
}

/* --- both --- */

/* What the row waits for while it is in this state. */
static struct error *look_at_row(const struct wait_host *host, const struct state_line *line,
				 const struct state_line *members, size_t count, enum state state,
				 struct seen_wait *ret, uint64_t *cpu_ns)
{
	struct wait_look look = { .host = host, .until_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_NS };
	struct wait_link *first;
	struct error *err = NULL;

	if (host && state < STATE_COUNT && count > 1)
		err = look_at_members(&look, members, count, state, ret);
	else if (host && state < STATE_COUNT && !(line->thread && line->thread->has_ended))
		err = look_at_thread(&look, line->thread->tid, state, ret);
	/* A file with a path at which it waits as at a pipe is a FIFO. */
	first = &ret->chain.links[0];
	if (ret->is_there && state == STATE_SLEEP_PIPE && ret->chain.count == 1 &&
	    *first->object == '/')
		first->is_fifo = glance_call_file(&first->call, &first->descriptor);
	if (!err && ret->is_there)
		wait_chain_name_ends(&look, &ret->chain);
	*cpu_ns += look.cpu_ns;
	wait_look_deinit(&look);
	return err;
}

struct error *wait_answer_find(const struct wait_host *host, const struct state_line *line,
			       const struct state_line *members, size_t count, unsigned measured,
			       const struct wait_remarks *remarks, struct wait_answer *ret)
{
	struct wait_sentence sentence = {
		.line = line,
		.measured = measured,
		.lead = wait_sentence_lead(line, measured),
		.threads = count > 1 ? (uint32_t)count : 0,
		.has_ended = line->thread && line->thread->has_ended && count <= 1,
		.remarks = *remarks,
	};
	struct seen_wait *first = &ret->first, *second = &ret->second;
	struct error *err;
	size_t length;
	FILE *out;

	sentence.second = wait_sentence_second(line, measured, sentence.lead);
	*ret = (struct wait_answer){ .threads = sentence.threads,
				     .first.state = sentence.lead,
				     .second.state = sentence.second };
	err = look_at_row(host, line, members, count, sentence.lead, first, &ret->cpu_ns);
	if (!err)
		err = look_at_row(host, line, members, count, sentence.second, second,
				  &ret->cpu_ns);
	if (err)
		return err;
	sentence.chain = first->is_there ? &first->chain : NULL;
	sentence.alike = first->alike;
	sentence.second_chain = second->is_there ? &second->chain : NULL;
	sentence.second_alike = second->alike;
	out = open_memstream(&ret->sentence, &length);
	if (out)
		wait_sentence_print(out, &sentence);
	return out && file_close_memory(out, &ret->sentence) ? NULL : &error_no_memory;
}

void wait_answer_deinit(struct wait_answer *answer)
{
	free(answer->sentence);
	answer->sentence = NULL;
}
