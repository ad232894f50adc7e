/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "state/last_exits.h"
#include "state/row_facts.h"

/* --- words --- */

/* Besides those of columns. */
static const struct {
	const char *word;
	enum state_sort_key key;
} words[] = {
	{ "busy", STATE_SORT_BUSY },
	{ "wait", STATE_SORT_NOW },
};
#define WORD_COUNT array_length(words)

/* In a batch all are printed, so the order of their shares is one of each state. */
static bool is_sorted_by(enum top_column column)
{
	return column != TOP_COLUMN_STATES;
}

static struct error *unknown_key(struct text text)
{
	const char *all[WORD_COUNT + TOP_COLUMN_COUNT], *nearest;
	char columns[TOP_COLUMN_STATE_FIRST][COLUMN_WORD_MAX], list[320] = "", word[80];
	size_t count = 0, used = 0;

	for (enum top_column c = 0; c < TOP_COLUMN_STATE_FIRST; c++)
		if (is_sorted_by(c))
			all[count++] = column_word(c, columns[c]);
	for (size_t i = 0; i < WORD_COUNT; i++)
		all[count++] = words[i].word;
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s, ", all[i]);
	for (enum state state = 0; state < STATE_COUNT; state++)
		all[count++] = state_rows[state].name;
	snprintf(word, sizeof(word), "%.*s", (int)(text.length < 79 ? text.length : 79),
		 text.bytes);
	nearest = text_nearest(word, all, count, sizeof(all[0]));
	if (nearest)
		return error_create("unknown sort key '%s'; did you mean '%s'?", word, nearest);
	return error_create("unknown sort key '%s'; expected one of: %sor the name of a state",
			    word, list);
}

struct error *state_sort_parse(struct text text, struct state_sort *ret)
{
	struct state_sort sort = { .reverse = text_starts(text, TEXT("-")) };
	enum top_column column;

	text.bytes += sort.reverse;
	text.length -= sort.reverse;
	column = column_find(text);
	for (size_t i = 0; i < WORD_COUNT; i++)
		if (text_equal(text, text_of(words[i].word))) {
			sort.key = words[i].key;
			*ret = sort;
			return NULL;
		}
	if (column == TOP_COLUMN_COUNT || !is_sorted_by(column))
		return unknown_key(text);
	sort.key = column_rows[column].key;
	if (sort.key == STATE_SORT_STATE)
		sort.state = (enum state)(column - TOP_COLUMN_STATE_FIRST);
	*ret = sort;
	return NULL;
}

const char *state_sort_word(struct state_sort sort, char buffer[COLUMN_WORD_MAX])
{
	if (sort.key == STATE_SORT_BUSY)
		return words[0].word;
	return column_word(column_of_key(sort.key, sort.state), buffer);
}

static enum column_source source_of(enum top_column column)
{
	return column < TOP_COLUMN_COUNT ? column_rows[column].source : COLUMN_FROM_WINDOW;
}

enum column_source state_sort_source(struct state_sort sort)
{
	return source_of(column_of_key(sort.key, sort.state));
}

/* --- keys --- */

/* The sort key of a line; the lowest comes first. */
struct order_key {
	uint64_t first, second;
	struct text text; /* where that is what counts */
	uint64_t id;
	uint32_t rank, number;
	bool is_unknown; /* it comes after all others of its rank */
	bool reverse;    /* of the text; numbers are reversed already */
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
		key->text = name_text(line->label);
		break;
	case STATE_SORT_TID:
		key->first = UINT64_MAX - line->thread->tid;
		break;
	case STATE_SORT_NOW:
		key->first = weight_of_wait(line->in_progress, line->in_progress_ns);
		break;
	case STATE_SORT_SWITCHES:
		key->first = line->switches;
		break;
	case STATE_SORT_HOST:
		key->first = UINT64_MAX - line->thread->host;
		break;
	case STATE_SORT_THREADS:
		key->first = line->threads;
		break;
	case STATE_SORT_USER:
		key->first = UINT64_MAX - line->thread->uid;
		break;
	case STATE_SORT_CGROUP:
		key->text = name_text(line->thread->cgroup);
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
	default:
		break;
	}
}

/* What lines are sorted by. */
struct ordering {
	const struct state_view *view;
	enum top_column column; /* TOP_COLUMN_COUNT: none */
	uint64_t at_ns;         /* the end of the window */
};

/* By a fact; those of which it is not known as by ACTIVE. */
static void weigh_fact(const struct state_line *line, const struct ordering *by,
		       struct order_key *key)
{
	const enum top_column column = by->column;
	const enum row_fact fact = column_fact(column);
	const enum state_grouping grouping = line->depth ? STATE_BY_THREAD : by->view->grouping;
	const struct row_subject subject = view_subject(by->view, line);
	const struct row_facts *facts = row_fact_set_find(by->view->facts, &subject);

	key->second = weight_of_part(state_line_active(line));
	key->is_unknown = !line->threads || column_rows[column].not_in & 1u << grouping ||
			  !row_facts_have(facts, fact);
	if (key->is_unknown)
		return;
	/* Texts are compared last. */
	if (column_rows[column].unit == COLUMN_IN_TEXT) {
		key->text = row_facts_command(facts);
		key->second = 0;
	} else if (column_rows[column].unit == COLUMN_IN_BYTES) {
		key->first = (uint64_t)row_facts_number(facts, fact);
	} else {
		key->first = (uint64_t)INT64_MAX - (uint64_t)row_facts_number(facts, fact);
	}
}

/* What ended last comes first. */
static void weigh_exit(const struct state_line *line, const struct ordering *by,
		       struct order_key *key)
{
	const struct last_exits *exits = by->view->exits;
	struct last_exit own;
	const struct last_exit *last =
		exits ? last_exits_of(exits, line, by->view->grouping, by->at_ns, &own) : NULL;

	key->second = weight_of_part(state_line_active(line));
	key->is_unknown = !last;
	key->first = last ? last->at_ns : 0;
}

static struct order_key line_key(const struct state_line *line, const struct ordering *by)
{
	const struct state_sort *sort = &by->view->sort;
	struct order_key key = { .id = line->id, .reverse = sort->reverse };

	switch (source_of(by->column)) {
	case COLUMN_FROM_WINDOW:
		weigh_line(line, sort, &key);
		break;
	case COLUMN_FROM_PROC:
		weigh_fact(line, by, &key);
		break;
	case COLUMN_FROM_EXITS:
		weigh_exit(line, by, &key);
		break;
	}
	if (!sort->reverse) {
		key.first = ~key.first;
		key.second = ~key.second;
	}
	return key;
}

#define compare(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_texts(struct text a, struct text b)
{
	const size_t shorter = a.length < b.length ? a.length : b.length;
	const int order = shorter ? memcmp(a.bytes, b.bytes, shorter) : 0;

	return order ? order : compare(a.length, b.length);
}

static int compare_keys(const void *one, const void *other)
{
	const struct order_key *a = one, *b = other;
	int order = compare(a->rank, b->rank);

	if (!order)
		order = compare(a->is_unknown, b->is_unknown);
	if (!order)
		order = compare(a->first, b->first);
	if (!order)
		order = compare(a->second, b->second);
	if (!order)
		order = a->reverse ? compare_texts(b->text, a->text)
				   : compare_texts(a->text, b->text);
	if (!order)
		order = compare(a->id, b->id);
	return order ? order : compare(a->number, b->number);
}

bool state_order(const struct state_line *lines, size_t count, const uint32_t *ranks,
		 const struct state_view *view, uint64_t at_ns, uint32_t *ret)
{
	const struct ordering by = { view, column_of_key(view->sort.key, view->sort.state), at_ns };
	_cleanup_free_ struct order_key *keys =
		reallocarray(NULL, count ? count : 1, sizeof(*keys));

	if (!keys)
		return false;
	for (size_t i = 0; i < count; i++) {
		keys[i] = line_key(&lines[i], &by);
		keys[i].rank = ranks ? ranks[i] : 0;
		keys[i].number = (uint32_t)i;
	}
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++)
		ret[i] = keys[i].number;
	return true;
}
