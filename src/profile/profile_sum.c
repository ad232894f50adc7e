/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/profile_sum.h"

#include <math.h>

#include "profile/files.h"
#include "profile/kept.h"

void profile_sum_reset(struct profile_sum *sum)
{
	profile_destroy(sum->profile);
	sum->profile = NULL;
}

void profile_sum_deinit(struct profile_sum *sum)
{
	profile_sum_reset(sum);
}

/* --- what is kept of a reading --- */

static void keep_stacks_alone(struct profile *reading)
{
	for (size_t i = 0; i < reading->histograms.count; i++)
		histogram_destroy(reading->histograms.items[i].histogram);
	reading->histograms.count = reading->longest.count = reading->preemptors.count = 0;
	kept_release(reading->kept);
	reading->kept = NULL;
	reading->wakers.count = reading->images.count = reading->mappings.count = 0;
	for (size_t i = 0; i < reading->samples.count; i++)
		reading->samples.items[i].waker = 0;
	for (size_t i = 0; i < reading->threads.count; i++)
		reading->threads.items[i].image = 0;
	/* Frames without a name keep their image, which tells those of different processes
	 * apart. */
	for (size_t i = 0; i < reading->frames.count; i++)
		if (reading->frames.items[i].name)
			reading->frames.items[i].image = 0;
}

/* --- what is old --- */

static void scale(uint64_t *value, double by)
{
	*value = (uint64_t)((double)*value * by + 0.5);
}

static void scale_thread(struct profile_thread *thread, double by)
{
	uint64_t wall =
		thread->ended_ns > thread->begun_ns ? thread->ended_ns - thread->begun_ns : 0;

	scale(&wall, by);
	thread->ended_ns = thread->begun_ns + wall;
	for (size_t c = 0; c < CLASS_COUNT; c++) {
		scale(&thread->ns[c], by);
		scale(&thread->counts[c], by);
	}
}

/* Samples that have decayed below a microsecond are removed, so that the sum does not grow without
 * bound. */
#define FORGOTTEN_NS 1000

static void decay(struct profile *profile, double by)
{
	size_t kept = 0;

	for (size_t i = 0; i < profile->samples.count; i++) {
		struct sample sample = profile->samples.items[i];

		scale(&sample.ns, by);
		scale(&sample.count, by);
		if (sample.class == CLASS_EVENT ? sample.count : sample.ns >= FORGOTTEN_NS)
			profile->samples.items[kept++] = sample;
	}
	profile->samples.count = kept;
	/* The indices of samples have changed. profile_add() builds the map again. */
	word_map_deinit(&profile->sample_numbers);
	for (size_t i = 0; i < profile->threads.count; i++)
		scale_thread(&profile->threads.items[i], by);
	scale(&profile->meta.duration_ns, by);
}

/* --- adding --- */

static bool is_too_large(const struct profile_sum *sum)
{
	return sum->profile && (sum->profile->nodes.count > PROFILE_SUM_NODES_MAX ||
				sum->profile->threads.count > PROFILE_SUM_THREADS_MAX);
}

struct error *profile_sum_add(struct profile_sum *sum, struct profile *reading)
{
	struct error *err = NULL;

	keep_stacks_alone(reading);
	if (is_too_large(sum))
		sum->restarts++;
	if (sum->only_last || is_too_large(sum))
		profile_sum_reset(sum);
	if (!sum->profile)
		err = profile_create(&sum->profile);
	else if (sum->half_life_ns)
		decay(sum->profile,
		      exp2(-(double)reading->meta.duration_ns / (double)sum->half_life_ns));
	return err ? err : profile_merge(sum->profile, reading);
}

struct error *profile_sum_copy(const struct profile_sum *sum, struct profile **ret)
{
	_cleanup_(profile_destroy) struct profile *copy = NULL;
	struct error *err = NULL;

	if (sum->profile)
		err = profile_create(&copy);
	if (copy && !err)
		err = profile_merge(copy, sum->profile);
	if (!err)
		*ret = take_ptr(copy);
	return err;
}
