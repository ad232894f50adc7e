// SPDX-License-Identifier: GPL-2.0-only
/*
 * The overhead of a measurement, which is a part of each value: what the same handlers measure at
 * probes of the same kinds on functions that do nothing.
 */
#include "trace.h"

#include <linux/err.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "histogram/bucket.h"

#define TRIALS     101
#define TRIAL_BITS 5

/* Kprobes find these functions by name. */
static noinline void kstats_empty_start(void)
{
	asm volatile("");
}

static noinline void kstats_empty_end(void)
{
	asm volatile("");
}

static bool is_function(const char *text)
{
	struct kstats_location location;

	return kstats_location_parse(text, &location) == 0 && location.kind == KSTATS_FUNCTION;
}

static void hit_point(struct kstats_trace *trial, struct kstats_point *point, void (*empty)(void))
{
	void (*handler)(void *trace) = point->handler;

	if (handler)
		handler(trial);
	else
		empty();
}

static void hit_points(struct kstats_trace *trial)
{
	hit_point(trial, &trial->start, kstats_empty_start);
	if (trial->end_text)
		hit_point(trial, &trial->end, kstats_empty_end);
}

static struct kstats_slot total_of(const struct kstats *metric, unsigned int slot)
{
	struct kstats_slot total = { 0 };
	int cpu;

	for_each_possible_cpu(cpu)
	{
		const struct kstats_slot *here = per_cpu_ptr(metric->slots, cpu) + slot;

		total.count += READ_ONCE(here->count);
		total.sum += READ_ONCE(here->sum);
	}
	return total;
}

/* Not the mean: interrupts make a few values large. */
static u64 median_of(const struct kstats *metric)
{
	u64 all = 0, seen = 0;
	unsigned int slot;

	/* Fewer than TRIALS: a pair that migrates to another CPU records nothing. */
	for (slot = 0; slot < BUCKET_SLOTS(TRIAL_BITS); slot++)
		all += total_of(metric, slot).count;
	for (slot = 0; slot < BUCKET_SLOTS(TRIAL_BITS); slot++) {
		struct kstats_slot total = total_of(metric, slot);

		seen += total.count;
		if (seen > all / 2)
			return div64_u64(total.sum, total.count) << bucket_shift(slot, TRIAL_BITS);
	}
	return 0;
}

static u64 measure(struct kstats_trace *trial)
{
	struct kstats_disarmed *disarmed = kzalloc(sizeof(*disarmed), GFP_KERNEL);
	u64 ns = 0;
	int i;

	if (!disarmed)
		return 0;
	if (!kstats_arm(trial)) {
		for (i = 0; i < TRIALS; i++)
			hit_points(trial);
		ns = median_of(trial->metric);
	}
	kstats_disarm(trial, disarmed);
	kstats_disarm_end(disarmed);
	kfree(disarmed);
	return ns;
}

u64 kstats_overhead(const struct kstats_trace *trace)
{
	/* Indexed by whether the start is a function, and by the kind of the end. Measured once. */
	static u64 known[2][3];
	const bool starts_in_function = is_function(trace->start_text);
	const int end = !trace->end_text ? 2 : is_function(trace->end_text);
	const struct kstats_request request = {
		.name = "overhead",
		.frac_bits = TRIAL_BITS,
		.start = starts_in_function ? "kstats:kstats_empty_start" : trace->start_text,
		.end = end == 1 ? "kstats:kstats_empty_end" : trace->end_text,
	};
	struct kstats_trace *trial;

	lockdep_assert_held(&kstats_mutex);
	if (known[starts_in_function][end])
		return known[starts_in_function][end];
	trial = kstats_trace_alloc(&request);
	if (IS_ERR(trial))
		return 0;
	trial->is_trial = true;
	known[starts_in_function][end] = measure(trial);
	kstats_trace_free(trial);
	return known[starts_in_function][end];
}
