/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/survivors.h"

#include <stdlib.h>

#include "base/word_map.h"

static struct words thread_words(const struct ctprof_thread *thread)
{
	return (struct words){ { thread->tid, thread->start_time_clock_ticks.value } };
}

static bool take_earlier(struct word_map *map, const struct ctprof_snapshot *s)
{
	for (size_t i = 0; i < s->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(s, i);
		uint32_t *place;

		if (!thread->start_time_clock_ticks.measured)
			continue;
		place = word_map_at(map, thread_words(thread));
		if (!place)
			return false;
		if (*place == WORD_MAP_NEW)
			*place = (uint32_t)i;
	}
	return true;
}

static void take_later(struct survivors *survivors, const struct word_map *map,
		       const struct ctprof_snapshot *s)
{
	for (size_t i = 0; i < s->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(s, i);
		uint32_t found = thread->start_time_clock_ticks.measured
					 ? word_map_find(map, thread_words(thread))
					 : WORD_MAP_NEW;

		if (found == WORD_MAP_NEW || survivors->after[found] != NO_THREAD)
			continue;
		survivors->before[i] = found;
		survivors->after[found] = (uint32_t)i;
	}
}

static uint32_t *no_threads(size_t count)
{
	uint32_t *numbers = malloc(count * sizeof(*numbers) + 1);

	for (size_t i = 0; numbers && i < count; i++)
		numbers[i] = NO_THREAD;
	return numbers;
}

struct error *survivors_init(struct survivors *survivors, const struct ctprof_snapshot *earlier,
			     const struct ctprof_snapshot *later)
{
	struct word_map map = { 0 };
	bool done;

	survivors->before = no_threads(later->threads.count);
	survivors->after = no_threads(earlier->threads.count);
	done = survivors->before && survivors->after && take_earlier(&map, earlier);
	if (done)
		take_later(survivors, &map, later);
	else
		survivors_deinit(survivors);
	word_map_deinit(&map);
	return done ? NULL : &error_no_memory;
}

void survivors_deinit(struct survivors *survivors)
{
	free(survivors->before);
	free(survivors->after);
	*survivors = (struct survivors){ 0 };
}
