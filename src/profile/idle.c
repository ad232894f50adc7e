/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/idle.h"

#include <stdlib.h>

#include "base/sum.h"
#include "profile/known_frames.h"
#include "profile/reason.h"

#define BIT(reason)   (1u << REASON_##reason)
#define ALWAYS_IDLE   (BIT(IDLE) | BIT(ACCEPT))
#define IDLE_IF_ALONE (ALWAYS_IDLE | BIT(POLL) | BIT(COND) | BIT(TIMER))

/* The times of a thread: all, and those of which it depends whether they are idle. */
struct idle_times {
	uint64_t all, idle, always;
};

static unsigned reason_bit(unsigned class, unsigned state)
{
	return profile_classes[class].is_off_cpu ? 1u << reason_of_state(state) : 0;
}

bool idle_has(const struct idle *idle, uint32_t thread, unsigned class, unsigned state)
{
	return idle &&
	       reason_bit(class, state) & (idle->threads[thread] ? IDLE_IF_ALONE : ALWAYS_IDLE);
}

/* Which frames ask (frame_asks): the caller frees it. NULL without memory. */
static bool *asking_frames(const struct profile *profile)
{
	bool *asks = malloc(profile->frames.count + 1);

	for (size_t i = 0; asks && i < profile->frames.count; i++)
		asks[i] = profile->frames.items[i].kind == FRAME_USER &&
			  frame_asks(profile->frames.items[i].name);
	return asks;
}

static bool waits_for_answer(const struct profile *profile, const bool *asks, uint32_t node)
{
	for (; node != NODE_NONE; node = profile->nodes.items[node].parent)
		if (asks[profile->nodes.items[node].frame])
			return true;
	return false;
}

static void add_up(const struct profile *profile, const bool *asks, struct idle_times *times,
		   struct idle *idle)
{
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sample *sample = &profile->samples.items[i];
		struct idle_times *t = &times[sample->thread];
		const unsigned bit = reason_bit(sample->class, sample->state);

		if (sample->class == CLASS_EVENT)
			continue;
		sum_add(&idle->all_ns, sample->ns);
		/* The kernel's own count of it is better, where there is one. */
		if (profile->threads.items[sample->thread].is_accounted &&
		    sample->class == CLASS_ON_CPU)
			continue;
		sum_add(&t->all, sample->ns);
		if (bit & IDLE_IF_ALONE && !waits_for_answer(profile, asks, sample->node))
			sum_add(&t->idle, sample->ns);
		if (bit & ALWAYS_IDLE)
			sum_add(&t->always, sample->ns);
	}
	for (size_t i = 0; i < profile->threads.count; i++)
		if (profile->threads.items[i].is_accounted)
			sum_add(&times[i].all, profile->threads.items[i].ns[CLASS_ON_CPU]);
}

/* All waits that are left out: a thread that is idle may have waited for few answers, too. */
static void add_up_idle(const struct profile *profile, struct idle *idle)
{
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sample *sample = &profile->samples.items[i];

		if (idle_has(idle, sample->thread, sample->class, sample->state))
			sum_add(&idle->ns, sample->ns);
	}
}

struct error *idle_find(const struct profile *profile, struct idle *ret)
{
	const size_t count = profile->threads.count;
	_cleanup_free_ struct idle_times *times = calloc(count + 1, sizeof(*times));
	_cleanup_free_ bool *asks = asking_frames(profile);
	struct idle idle = { .threads = calloc(count + 1, sizeof(*idle.threads)) };

	if (!times || !asks || !idle.threads) {
		free(idle.threads);
		return &error_no_memory;
	}
	add_up(profile, asks, times, &idle);
	for (size_t i = 0; i < count; i++) {
		const struct idle_times *t = &times[i];

		idle.threads[i] = t->idle && t->all - t->idle <= t->all / IDLE_BESIDE;
		idle.thread_count += idle.threads[i];
		idle.part_count += !idle.threads[i] && t->always;
	}
	add_up_idle(profile, &idle);
	*ret = idle;
	return NULL;
}

void idle_deinit(struct idle *idle)
{
	free(idle->threads);
	*idle = (struct idle){ 0 };
}
