/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/idle.h"

#include <stdlib.h>

#include "base/sum.h"
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

static void add_up(const struct profile *profile, struct idle_times *times, struct idle *idle)
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
		if (bit & IDLE_IF_ALONE)
			sum_add(&t->idle, sample->ns);
		if (bit & ALWAYS_IDLE)
			sum_add(&t->always, sample->ns);
	}
	for (size_t i = 0; i < profile->threads.count; i++)
		if (profile->threads.items[i].is_accounted)
			sum_add(&times[i].all, profile->threads.items[i].ns[CLASS_ON_CPU]);
}

struct error *idle_find(const struct profile *profile, struct idle *ret)
{
	const size_t count = profile->threads.count;
	_cleanup_free_ struct idle_times *times = calloc(count + 1, sizeof(*times));
	struct idle idle = { .threads = calloc(count + 1, sizeof(*idle.threads)) };

	if (!times || !idle.threads) {
		free(idle.threads);
		return &error_no_memory;
	}
	add_up(profile, times, &idle);
	for (size_t i = 0; i < count; i++) {
		const struct idle_times *t = &times[i];

		idle.threads[i] = t->idle && t->all - t->idle <= t->all / IDLE_BESIDE;
		idle.thread_count += idle.threads[i];
		idle.part_count += !idle.threads[i] && t->always;
		sum_add(&idle.ns, idle.threads[i] ? t->idle : t->always);
	}
	*ret = idle;
	return NULL;
}

void idle_deinit(struct idle *idle)
{
	free(idle->threads);
	*idle = (struct idle){ 0 };
}
