/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/delay_times.h"

#include "base/clock.h"

/* The states, and the field of each. */
static const struct {
	enum state state;
	unsigned field;
} rows[COUNTED_COUNT] = {
	[COUNTED_RUN] = { STATE_EXEC, TASKSTATS_RUN_VIRTUAL },
	[COUNTED_DELAY] = { STATE_RUNNABLE, taskstats_field(TASKSTATS_cpu, TASKSTATS_TOTAL) },
	[COUNTED_BLKIO] = { STATE_SLEEP_DISK, taskstats_field(TASKSTATS_blkio, TASKSTATS_TOTAL) },
	[COUNTED_SWAPIN] = { STATE_PAGING, taskstats_field(TASKSTATS_swapin, TASKSTATS_TOTAL) },
};

unsigned delay_times_measured(bool counts_delays)
{
	const unsigned delays = 1u << STATE_SLEEP_DISK | 1u << STATE_PAGING;

	return counts_delays ? DELAY_TIMES_MEASURED : DELAY_TIMES_MEASURED & ~delays;
}

/* The field is in microseconds. */
static uint64_t lived(const struct taskstats_values *stats)
{
	uint64_t ns;

	return __builtin_mul_overflow(stats->values[TASKSTATS_ETIME], NS_PER_S / 1000000, &ns)
		       ? UINT64_MAX
		       : ns;
}

/* At the earliest: it was asked for after `now`. */
static uint64_t start_of(const struct taskstats_values *stats, uint64_t now)
{
	const uint64_t ns = lived(stats);

	return now > ns ? now - ns : 0;
}

/* Is it another thread with the same number? It started after the last reading, or has used less
 * time than before. */
bool delay_times_are_anothers(const struct state_thread *thread,
			      const struct counter_memory *memory,
			      const struct taskstats_values *stats, uint64_t now)
{
	return start_of(stats, now) > thread->seen_ns ||
	       stats->values[TASKSTATS_RUN_VIRTUAL] < memory->reported[COUNTED_RUN];
}

void delay_times_begin(struct state_thread *thread, struct counter_memory *memory,
		       const struct taskstats_values *stats, uint64_t opened_ns, uint64_t now)
{
	const uint64_t start = start_of(stats, now);
	const bool is_ours = start > opened_ns;

	thread->state = STATE_COUNT;
	thread->cpu = UINT32_MAX;
	thread->begun_ns = thread->seen_ns = is_ours ? start : now;
	for (size_t i = 0; i < COUNTED_COUNT; i++)
		memory->reported[i] = is_ours ? 0 : stats->values[rows[i].field];
}

unsigned delay_times_add(struct state_thread *thread, struct counter_memory *memory,
			 const struct taskstats_values *stats, uint64_t now)
{
	const uint64_t most = clock_most(lived(stats));
	unsigned impossible = 0;

	for (size_t i = 0; i < COUNTED_COUNT; i++) {
		const uint64_t value = stats->values[rows[i].field];

		if (value > memory->reported[i] && value - memory->reported[i] > most)
			impossible++;
		else if (value > memory->reported[i])
			thread->times.ns[rows[i].state] += value - memory->reported[i];
		memory->reported[i] = value;
	}
	if (now > thread->seen_ns)
		thread->seen_ns = now;
	thread->uid = stats->uid;
	thread->switches = stats->values[TASKSTATS_NVCSW] + stats->values[TASKSTATS_NIVCSW];
	return impossible;
}
