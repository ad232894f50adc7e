/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/thread_states.h"

#include <stdlib.h>

/* Time of a thread by class. */
struct class_times {
	uint64_t ns[CLASS_COUNT];
};

static void add_samples(const struct profile *profile, struct state_times *times,
			struct class_times *told)
{
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sample *sample = &profile->samples.items[i];

		if (!profile_classes[sample->class].is_off_cpu)
			continue;
		times[sample->thread].ns[sample->state] += sample->ns;
		told[sample->thread].ns[sample->class] += sample->ns;
	}
}

/* What no sample tells of: all time on CPUs, since samples there only estimate it. */
static void add_rest(const struct profile_thread *thread, const struct class_times *told,
		     struct state_times *times)
{
	for (size_t class = 0; class < CLASS_COUNT; class ++) {
		const enum state state = profile_classes[class].state;

		if (state < STATE_COUNT && thread->ns[class] > told->ns[class])
			times->ns[state] += thread->ns[class] - told->ns[class];
	}
}

struct error *profile_thread_states(const struct profile *profile, struct state_times **ret)
{
	const size_t count = profile->threads.count;
	_cleanup_free_ struct class_times *told = calloc(count, sizeof(*told));
	struct state_times *times = calloc(count, sizeof(*times));

	if (count && (!told || !times)) {
		free(times);
		return &error_no_memory;
	}
	if (count) {
		add_samples(profile, times, told);
		for (size_t i = 0; i < count; i++)
			add_rest(&profile->threads.items[i], &told[i], &times[i]);
	}
	*ret = times;
	return NULL;
}
