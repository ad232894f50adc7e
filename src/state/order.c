/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* --- words --- */

/* Sort keys other than states: SORT_WORD(key, word) */
#define SORT_WORDS(SORT_WORD)           \
	SORT_WORD(ACTIVE, "active")     \
	SORT_WORD(BUSY, "busy")         \
	SORT_WORD(NAME, "name")         \
	SORT_WORD(TID, "tid")           \
	SORT_WORD(PROGRESS, "wait")     \
	SORT_WORD(SWITCHES, "switches") \
	SORT_WORD(THREADS, "threads")   \
	SORT_WORD(USER, "user")         \
	SORT_WORD(CGROUP, "cgroup")     \
	SORT_WORD(PID, "pid")           \
	SORT_WORD(CPU, "cpu")           \
	SORT_WORD(ENDED, "ended")

static const struct {
	const char *word;
	enum state_sort_key key;
} words[] = {
#define SORT_WORD(key, word) { word, STATE_SORT_##key },
	SORT_WORDS(SORT_WORD)
#undef SORT_WORD
};
#define WORD_COUNT array_length(words)

/* Columns of state/row_facts.h, as --columns has them: of each row, they take files. */
static const char *const facts[] = { "memory", "priority", "nice",  "read",
				     "write",  "rchar",    "wchar", "command" };

static struct error *unknown_key(struct text text)
{
	const char *all[WORD_COUNT + STATE_COUNT], *nearest;
	char word[80];

	for (size_t i = 0; i < WORD_COUNT; i++)
		all[i] = words[i].word;
	for (enum state state = 0; state < STATE_COUNT; state++)
		all[WORD_COUNT + state] = state_rows[state].name;
	snprintf(word, sizeof(word), "%.*s", (int)(text.length < 79 ? text.length : 79),
		 text.bytes);
	for (size_t i = 0; i < array_length(facts); i++)
		if (strcmp(word, facts[i]) == 0)
			return error_create(
				"rows cannot be sorted by '%s': ctprof reads it only for "
				"the rows that it shows",
				word);
	nearest = text_nearest(word, all, array_length(all), sizeof(all[0]));
	if (nearest)
		return error_create("unknown sort key '%s'; did you mean '%s'?", word, nearest);
#define SORT_WORD(key, word) word ", "
	return error_create("unknown sort key '%s'; expected one of: " SORT_WORDS(
				    SORT_WORD) "or the name of a state",
			    word);
#undef SORT_WORD
}

struct error *state_sort_parse(struct text text, struct state_sort *ret)
{
	struct state_sort sort = { .reverse = text_starts(text, TEXT("-")) };

	text.bytes += sort.reverse;
	text.length -= sort.reverse;
	for (size_t i = 0; i < WORD_COUNT; i++)
		if (text_equal(text, text_of(words[i].word))) {
			sort.key = words[i].key;
			*ret = sort;
			return NULL;
		}
	for (enum state state = 0; state < STATE_COUNT; state++)
		if (text_equal(text, text_of(state_rows[state].name))) {
			sort.key = STATE_SORT_STATE;
			sort.state = state;
			*ret = sort;
			return NULL;
		}
	return unknown_key(text);
}

const char *state_sort_word(struct state_sort sort)
{
	size_t i = 0;

	if (sort.key == STATE_SORT_STATE)
		return state_rows[sort.state].name;
	while (words[i].key != sort.key)
		i++;
	return words[i].word;
}

/* --- keys --- */

/* The sort key of a line; the lowest comes first. */
struct order_key {
	uint64_t first, second;
	const struct name *name; /* where that is what counts */
	uint64_t id;
	uint32_t rank, number;
	bool reverse; /* of the name; numbers are reversed already */
};

static bool is_for_work(enum state state)
{
	return state_rows[state].main == STATE_IDLE;
}

static uint64_t weight_of_wait(enum state state, uint64_t ns)
{
	return ns && !is_for_work(state) ? ns | 1ull << 63 : ns;
}

bool state_wait_is_worse(enum state state, uint64_t ns, enum state than, uint64_t than_ns)
{
	return weight_of_wait(state, ns) > weight_of_wait(than, than_ns);
}

/* The weight as a whole number: for less than 2^22 threads, and finer than any output. */
static uint64_t weight_of_part(double part)
{
	return (uint64_t)(part * (double)(1ull << 40));
}

/* Numbers of which the largest comes first. */
static void weigh_line(const struct state_line *line, const struct state_sort *sort,
		       struct order_key *key)
{
	switch (sort->key) {
	case STATE_SORT_ACTIVE:
		/* The share that is shown, and not the time: lines of threads that began late
		 * would be out of order. */
		key->first = weight_of_part(state_line_active(line));
		/* Of those that were not, what waited for an answer before what waited for work. */
		key->second = state_times_of(&line->times, STATE_SLEEP) -
			      line->times.ns[STATE_SLEEP_TIMER];
		break;
	case STATE_SORT_BUSY:
		key->first = weight_of_part(state_line_busy(line));
		key->second = line->times.ns[STATE_SLEEP_DISK];
		break;
	case STATE_SORT_STATE:
		/* A double distinguishes this many steps. */
		key->first = (uint64_t)(state_line_share(line, sort->state) * (1ull << 53));
		break;
	case STATE_SORT_NAME:
		key->name = line->label;
		break;
	case STATE_SORT_TID:
		key->first = UINT64_MAX - line->thread->tid;
		break;
	case STATE_SORT_PROGRESS:
		key->first = weight_of_wait(line->in_progress, line->in_progress_ns);
		break;
	case STATE_SORT_SWITCHES:
		key->first = line->switches;
		break;
	case STATE_SORT_THREADS:
		key->first = line->threads;
		break;
	case STATE_SORT_USER:
		key->first = UINT64_MAX - line->thread->uid;
		break;
	case STATE_SORT_CGROUP:
		key->name = line->thread->cgroup;
		break;
	case STATE_SORT_PID:
		key->first = UINT64_MAX - line->thread->tgid;
		break;
	case STATE_SORT_CPU:
		if (line->interval_ns)
			key->first =
				weight_of_part((double)state_times_of(&line->times, STATE_EXEC) /
					       (double)line->interval_ns);
		break;
	case STATE_SORT_ENDED:
		key->first = line->ended;
		break;
	case STATE_SORT_NONE:
		break;
	}
}

static struct order_key line_key(const struct state_line *line, const struct state_sort *sort)
{
	struct order_key key = { .id = line->id, .reverse = sort->reverse };

	weigh_line(line, sort, &key);
	if (!sort->reverse) {
		key.first = ~key.first;
		key.second = ~key.second;
	}
	return key;
}

#define compare(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_keys(const void *one, const void *other)
{
	const struct order_key *a = one, *b = other;
	int order = compare(a->rank, b->rank);

	if (!order)
		order = compare(a->first, b->first);
	if (!order)
		order = compare(a->second, b->second);
	if (!order)
		order = a->reverse ? name_compare(b->name, a->name)
				   : name_compare(a->name, b->name);
	if (!order)
		order = compare(a->id, b->id);
	return order ? order : compare(a->number, b->number);
}

bool state_order(const struct state_line *lines, size_t count, const uint32_t *ranks,
		 const struct state_sort *sort, uint32_t *ret)
{
	_cleanup_free_ struct order_key *keys =
		reallocarray(NULL, count ? count : 1, sizeof(*keys));

	if (!keys)
		return false;
	for (size_t i = 0; i < count; i++) {
		keys[i] = line_key(&lines[i], sort);
		keys[i].rank = ranks ? ranks[i] : 0;
		keys[i].number = (uint32_t)i;
	}
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++)
		ret[i] = keys[i].number;
	return true;
}
