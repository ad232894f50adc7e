/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/window.h"

#include "base/word_map.h"

/* The growth of a counter; 0 if it seems to have gone back. */
static uint64_t grown(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

/* --- one thread --- */

static uint64_t watched_ns(const struct state_thread *thread)
{
	return grown(thread->begun_ns, thread->seen_ns);
}

/*
 * Time that was in a state as a whole may have moved to its parts since. So the growth of the state
 * with its parts is what counts, and the parts get no more than that.
 */
static void divide(const struct state_times *before, const struct state_times *now, enum state main,
		   struct state_times *ret)
{
	uint64_t left = grown(state_times_of(before, main), state_times_of(now, main));

	for (enum state part = 0; part < STATE_COUNT; part++) {
		uint64_t ns = grown(before->ns[part], now->ns[part]);

		if (part == main || state_rows[part].main != main)
			continue;
		ret->ns[part] = ns < left ? ns : left;
		left -= ret->ns[part];
	}
	ret->ns[main] = left;
}

/* `before` has the thread. Its window is the growth of its tracked time: captures do not know
 * better when each of their threads was read. */
static void continue_thread(struct state_delta *delta, const struct state_thread *before)
{
	const struct state_thread *now = delta->thread;

	delta->window_ns = grown(watched_ns(before), watched_ns(now));
	for (size_t i = 0; i < STATE_MAIN_COUNT; i++)
		divide(&before->times, &now->times, state_mains[i], &delta->times);
	delta->switches = grown(before->switches, now->switches);
}

static uint64_t part_of_value(uint64_t value, uint64_t part, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)value * part / whole);
}

/*
 * `before` does not have the thread. If it began in the window, all its times belong to the window.
 * If it was tracked before and is missing there (a reading may lose threads), only the sums over
 * its life are known, and the window gets its share of them, so that no second holds what took an
 * hour.
 */
static void begin_thread(struct state_delta *delta, const struct state_reading *before)
{
	const struct state_thread *now = delta->thread;
	const uint64_t watched = watched_ns(now), begun_ns = before->at_ns;

	delta->is_new = true;
	delta->window_ns = watched;
	delta->times = now->times;
	delta->switches = now->switches;
	if (now->begun_ns >= begun_ns || !watched || before->is_complete)
		return;
	delta->window_ns = grown(begun_ns, now->seen_ns);
	delta->switches = part_of_value(now->switches, delta->window_ns, watched);
	for (enum state state = 0; state < STATE_COUNT; state++)
		delta->times.ns[state] =
			part_of_value(now->times.ns[state], delta->window_ns, watched);
}

/* The elapsed time of its wait, which may be longer than the window. */
static uint64_t in_progress(const struct state_thread *thread)
{
	bool waits = !thread->has_ended && thread->state < STATE_COUNT &&
		     state_rows[thread->state].main != STATE_EXEC;

	return waits && thread->since_ns ? grown(thread->since_ns, thread->seen_ns) : 0;
}

/* --- all of them --- */

static struct state_cost cost_between(const struct state_cost *before, const struct state_cost *now)
{
	return (struct state_cost){
		.program_ns = grown(before->program_ns, now->program_ns),
		.own_cpu_ns = grown(before->own_cpu_ns, now->own_cpu_ns),
		.threads_lost = grown(before->threads_lost, now->threads_lost),
		.threads_torn = grown(before->threads_torn, now->threads_torn),
		.delays_impossible = grown(before->delays_impossible, now->delays_impossible),
	};
}

static bool index_threads(struct word_map *map, const struct state_reading *reading)
{
	if (reading->threads.count >= WORD_MAP_NEW ||
	    !word_map_reserve(map, reading->threads.count))
		return false;
	for (size_t i = 0; i < reading->threads.count; i++) {
		uint32_t *place =
			word_map_at(map, (struct words){ { reading->threads.items[i].id } });

		if (!place)
			return false;
		*place = (uint32_t)i;
	}
	return true;
}

/* There is room. */
static void add_threads(struct state_window *window, const struct state_reading *before,
			const struct state_reading *now, const struct word_map *earlier)
{
	for (size_t i = 0; i < now->threads.count; i++) {
		const struct state_thread *thread = &now->threads.items[i];
		uint32_t found = word_map_find(earlier, (struct words){ { thread->id } });
		const struct state_thread *then =
			found == WORD_MAP_NEW ? NULL : &before->threads.items[found];
		struct state_delta *delta;

		/* The window before had its end. */
		if (then && then->has_ended)
			continue;
		delta = &window->deltas.items[window->deltas.count++];
		*delta = (struct state_delta){ .thread = thread,
					       .in_progress_ns = in_progress(thread) };
		if (then)
			continue_thread(delta, then);
		else
			begin_thread(delta, before);
	}
}

struct error *state_window_make(struct state_window *window, const struct state_reading *before,
				const struct state_reading *now)
{
	struct word_map earlier = { 0 };

	array_clear(&window->deltas);
	if (!array_reserve(&window->deltas, now->threads.count) ||
	    !index_threads(&earlier, before)) {
		word_map_deinit(&earlier);
		return &error_no_memory;
	}
	window->begun_ns = before->at_ns;
	window->ended_ns = now->at_ns;
	window->at_unix_ns = now->at_unix_ns;
	window->measured = now->measured;
	window->cost = cost_between(&before->cost, &now->cost);
	add_threads(window, before, now, &earlier);
	word_map_deinit(&earlier);
	return NULL;
}

void state_window_deinit(struct state_window *window)
{
	array_deinit(&window->deltas);
	*window = (struct state_window){ 0 };
}
