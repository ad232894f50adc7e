/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/last_exits.h"

#include <signal.h>
#include <stdio.h>

void last_exits_deinit(struct last_exits *exits)
{
	word_map_deinit(&exits->places);
	array_deinit(&exits->rows);
}

/* --- keys: a name, a cgroup, or both --- */

static struct words key_of_name(const struct state_thread *thread)
{
	return (struct words){ { (uintptr_t)thread->process, 0, 1 } };
}

static struct words key_of_cgroup(const struct state_thread *thread)
{
	return (struct words){ { 0, (uintptr_t)thread->cgroup, 2 } };
}

static struct words key_of_both(const struct state_thread *thread)
{
	return (struct words){ { (uintptr_t)thread->process, (uintptr_t)thread->cgroup, 3 } };
}

/* --- what is kept --- */

static int compare_age(const void *a, const void *b)
{
	const uint64_t x = ((const struct last_exit_row *)a)->exit.at_ns,
		       y = ((const struct last_exit_row *)b)->exit.at_ns;

	return (x < y) - (x > y);
}

/* Keep the newer half, and rebuild the map. */
static void forget(struct last_exits *exits)
{
	struct word_map places = { 0 };
	size_t kept = 0;

	qsort(exits->rows.items, exits->rows.count, sizeof(*exits->rows.items), compare_age);
	exits->rows.count /= 2;
	for (; kept < exits->rows.count; kept++) {
		uint32_t *place = word_map_at(&places, exits->rows.items[kept].key);

		if (!place)
			break;
		*place = (uint32_t)kept;
	}
	exits->rows.count = kept;
	word_map_deinit(&exits->places);
	exits->places = places;
}

static void put(struct last_exits *exits, struct words key, struct last_exit exit)
{
	uint32_t *place;

	if (exits->rows.count >= LAST_EXITS_MAX)
		forget(exits);
	/* Room before the place, which would otherwise lead to no row. */
	if (!array_reserve(&exits->rows, 1))
		return;
	place = word_map_at(&exits->places, key);
	if (!place)
		return;
	if (*place == WORD_MAP_NEW) {
		*place = (uint32_t)exits->rows.count;
		exits->rows.items[exits->rows.count++] = (struct last_exit_row){ key, exit };
	} else if (exits->rows.items[*place].exit.at_ns <= exit.at_ns) {
		exits->rows.items[*place].exit = exit;
	}
}

void last_exits_take(struct last_exits *exits, const struct state_window *window)
{
	for (size_t i = 0; i < window->deltas.count; i++) {
		const struct state_thread *thread = window->deltas.items[i].thread;
		const struct last_exit exit = { thread->exit_code, thread->seen_ns };

		/* A thread that ends is no event while its process goes on. */
		if (!thread->has_ended || !thread->has_exit_code || thread->tid != thread->tgid)
			continue;
		put(exits, key_of_name(thread), exit);
		put(exits, key_of_cgroup(thread), exit);
		put(exits, key_of_both(thread), exit);
	}
}

/* --- what is said of a row --- */

const struct last_exit *last_exits_of(const struct last_exits *exits, const struct state_line *line,
				      enum state_grouping grouping, uint64_t at_ns,
				      struct last_exit *ret)
{
	const struct state_thread *thread = line->thread;
	const bool is_group = !line->depth;
	uint32_t place;

	if (!line->threads && thread->has_exit_code) {
		*ret = (struct last_exit){ thread->exit_code, thread->seen_ns };
		return ret;
	}
	place = word_map_find(&exits->places,
			      is_group && grouping == STATE_BY_CGROUP ? key_of_cgroup(thread)
			      : is_group && grouping == STATE_BY_POOL ? key_of_name(thread)
								      : key_of_both(thread));
	if (place == WORD_MAP_NEW || exits->rows.items[place].exit.at_ns > at_ns)
		return NULL;
	*ret = exits->rows.items[place].exit;
	return ret;
}

char *last_exit_text(char buffer[LAST_EXIT_TEXT_MAX], const struct last_exit *exit)
{
	const unsigned signal = last_exit_signal(exit);
	const char *name = signal ? sigabbrev_np((int)signal) : NULL;

	if (name)
		snprintf(buffer, LAST_EXIT_TEXT_MAX, "%s", name);
	else
		snprintf(buffer, LAST_EXIT_TEXT_MAX, "%u",
			 signal ? signal : exit->code >> 8 & 0xff);
	return buffer;
}
