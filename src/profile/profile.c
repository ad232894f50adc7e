/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/profile.h"

#include <string.h>

#include "base/sum.h"
#include "profile/kept.h"
#include "profile/reason.h"
#include "state/reading.h"

const struct profile_class_row profile_classes[CLASS_COUNT] = {
#define CLASS_ROW(id, state, name, letter, off, prose) \
	[CLASS_##id] = { name, letter, STATE_##state, off, prose },
	PROFILE_CLASSES(CLASS_ROW)
#undef CLASS_ROW
};

/* The limit of names. A host has few, and the size of an imported file bounds them. */
#define NAME_BYTES_MAX ((size_t)1 << 30)

struct error *profile_create(struct profile **ret)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return &error_no_memory;
	arena_init(&profile->arena, NAME_BYTES_MAX);
	names_init(&profile->names, &profile->arena);
	*ret = profile;
	return NULL;
}

void profile_destroy(struct profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->histograms.count; i++)
		histogram_destroy(profile->histograms.items[i].histogram);
	array_deinit(&profile->frames);
	array_deinit(&profile->nodes);
	array_deinit(&profile->mappings);
	array_deinit(&profile->images);
	array_deinit(&profile->threads);
	array_deinit(&profile->events);
	array_deinit(&profile->samples);
	array_deinit(&profile->wakers);
	array_deinit(&profile->longest);
	array_deinit(&profile->preemptors);
	array_deinit(&profile->quotas);
	array_deinit(&profile->histograms);
	for (size_t i = 0; i < profile->latencies.count; i++)
		histogram_destroy(profile->latencies.items[i].histogram);
	array_deinit(&profile->latencies);
	word_map_deinit(&profile->frame_numbers);
	tree_index_deinit(&profile->node_index);
	word_map_deinit(&profile->sample_numbers);
	names_deinit(&profile->names);
	arena_deinit(&profile->arena);
	kept_release(profile->kept);
	free(profile);
}

const struct name *profile_name(struct profile *profile, const void *bytes, size_t length)
{
	return names_intern(&profile->names, bytes, length);
}

/* The key of equal frames. Its bytes are interned like a name, whose address stands for all of it.
 */
struct frame_key {
	uint64_t kind, name, module, source, line, address, offset, image, inlined;
};

struct error *profile_frame(struct profile *profile, const struct frame *frame, uint32_t *ret)
{
	const struct frame_key key = {
		.kind = frame->kind,
		.name = (uintptr_t)frame->name,
		.module = (uintptr_t)frame->module,
		.source = (uintptr_t)frame->source,
		.line = frame->line,
		.address = frame->address,
		.offset = frame->offset,
		.image = frame->image,
		.inlined = frame->inlined,
	};
	const struct name *bytes = names_intern(&profile->names, &key, sizeof(key));
	uint32_t *number =
		bytes ? word_map_at(&profile->frame_numbers, (struct words){ { (uintptr_t)bytes } })
		      : NULL;

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (profile->frames.count >= NODE_NONE - 1 || !array_push(&profile->frames, *frame))
			return &error_no_memory;
		*number = (uint32_t)profile->frames.count - 1;
	}
	*ret = *number;
	return NULL;
}

struct error *profile_node(struct profile *profile, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	return tree_add(&profile->node_index, &profile->nodes, NULL, parent, frame, ret);
}

void profile_losses_add(struct profile_losses *into, const struct profile_losses *more)
{
	uint64_t *all = (uint64_t *)into;
	const uint64_t *numbers = (const uint64_t *)more;

	_Static_assert(sizeof(*into) % sizeof(*all) == 0, "losses are numbers only");
	for (size_t i = 0; i < sizeof(*into) / sizeof(*all); i++)
		sum_add(&all[i], numbers[i]);
}

uint8_t profile_settle_state(unsigned class, unsigned state)
{
	const enum state usual = reason_default_state(class);
	const bool can_wait = usual != STATE_EXEC && usual != STATE_RUNNABLE;
	const enum state main = state < STATE_COUNT ? state_rows[state].main : STATE_EXEC;

	return can_wait && main != STATE_EXEC && main != STATE_RUNNABLE ? (uint8_t)state
									: (uint8_t)usual;
}

static uint32_t *number_of_sample(struct word_map *numbers, const struct sample *sample)
{
	return word_map_at(numbers, (struct words){ {
					    (uint64_t)sample->thread << 32 | sample->node,
					    (uint64_t)sample->class << 32 |
						    (uint64_t)sample->event << 16 | sample->cpu,
					    profile_settle_state(sample->class, sample->state),
				    } });
}

static struct error *push_sample(struct profile *profile, const struct sample *given)
{
	struct sample sample = *given;

	sample.state = profile_settle_state(sample.class, sample.state);
	return profile->samples.count < NODE_NONE - 1 && array_push(&profile->samples, sample)
		       ? NULL
		       : &error_no_memory;
}

static struct error *add_sample(struct profile *profile, struct word_map *numbers,
				const struct sample *sample)
{
	uint32_t *number = number_of_sample(numbers, sample);
	struct sample *known;

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		struct error *err = push_sample(profile, sample);

		if (!err)
			*number = (uint32_t)profile->samples.count - 1;
		return err;
	}
	known = &profile->samples.items[*number];
	known->ns += sample->ns;
	known->count += sample->count;
	if (!known->longest_ns || !sample->longest_ns) {
		known->longest_ns = 0;
		known->waker = 0;
	} else if (known->longest_ns < sample->longest_ns) {
		known->longest_ns = sample->longest_ns;
		known->waker = sample->waker;
	}
	known->is_in_progress |= sample->is_in_progress;
	return NULL;
}

static bool number_samples(struct profile *profile)
{
	for (size_t i = profile->sample_numbers.count; i < profile->samples.count; i++) {
		uint32_t *number =
			number_of_sample(&profile->sample_numbers, &profile->samples.items[i]);

		if (!number)
			return false;
		*number = (uint32_t)i;
	}
	return true;
}

struct error *profile_add(struct profile *profile, const struct sample *sample)
{
	if (profile->sample_numbers.count < profile->samples.count && !number_samples(profile))
		return &error_no_memory;
	return add_sample(profile, &profile->sample_numbers, sample);
}

/* How many samples each node has: 0, 1, or 2 for more. */
static uint8_t *count_by_node(const struct profile *profile, const struct sample *samples,
			      size_t count)
{
	uint8_t *counts = calloc(profile->nodes.count + 1, 1);

	for (size_t i = 0; counts && i < count; i++)
		if (samples[i].node != NODE_NONE)
			counts[samples[i].node] += counts[samples[i].node] < 2;
	return counts;
}

static bool is_alone(const uint8_t *counts, const struct sample *sample)
{
	return sample->node != NODE_NONE && counts[sample->node] == 1;
}

struct error *profile_take_samples(struct profile *profile, struct sample *samples, size_t count)
{
	_cleanup_free_ uint8_t *counts = count_by_node(profile, samples, count);
	struct word_map shared = { 0 };
	struct error *err = counts ? NULL : &error_no_memory;
	size_t others = 0;

	/* They are compacted in place: the write index never passes the read index. */
	profile->samples.items = samples;
	profile->samples.room = count;
	for (size_t i = 0; i < count && !err; i++)
		others += !is_alone(counts, &samples[i]);
	if (!err && !word_map_reserve(&shared, others))
		err = &error_no_memory;
	for (size_t i = 0; i < count && !err; i++)
		err = is_alone(counts, &samples[i]) ? push_sample(profile, &samples[i])
						    : add_sample(profile, &shared, &samples[i]);
	word_map_deinit(&shared);
	return err;
}

struct error *profile_keep(struct profile *profile,
			   bool (*keep)(void *context, size_t number, struct sample *sample),
			   void *context)
{
	const size_t count = profile->samples.count;
	struct error *err = NULL;

	word_map_deinit(&profile->sample_numbers);
	profile->samples.count = 0;
	/* Samples are compacted in place: the write index never passes the read index. */
	for (size_t i = 0; i < count && !err; i++) {
		struct sample sample = profile->samples.items[i];

		if (keep(context, i, &sample))
			err = profile_add(profile, &sample);
	}
	return err;
}

uint64_t profile_total_ns(const struct profile *profile, unsigned classes)
{
	uint64_t total = 0;

	for (size_t i = 0; i < profile->samples.count; i++)
		if (classes >> profile->samples.items[i].class & 1)
			total += profile->samples.items[i].ns;
	return total;
}

bool sample_lasts(const struct profile *profile, const struct sample *sample)
{
	const struct profile_thread *thread = &profile->threads.items[sample->thread];
	const uint64_t wall = thread->ended_ns - thread->begun_ns;

	return thread->ended_ns > thread->begun_ns && sample->count <= 1 &&
	       sample->ns >= wall - wall / 20;
}
