/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/json.h"

static struct error *points_nowhere(const char *table, size_t item, const char *member)
{
	return error_create("'%s', item %zu: its '%s' is not in the file", table, item, member);
}

/* An item of a column, which may be shorter than its table when it is left out. */
static uint64_t at(const struct column *column, size_t i, uint64_t absent)
{
	return column->count ? column->items[i] : absent;
}

static struct error *check_lengths(const struct profile_parser *p)
{
	size_t samples = p->samples.thread.count;
	const struct column *const all[] = { &p->samples.node, &p->samples.class, &p->samples.ns,
					     &p->samples.count };
	const struct column *const some[] = { &p->samples.event,       &p->samples.cpu,
					      &p->samples.in_progress, &p->samples.state,
					      &p->samples.longest_ns,  &p->samples.waker };

	if (p->nodes.parent.count != p->nodes.frame.count)
		return error_create("'nodes': columns of different lengths");
	for (size_t i = 0; i < array_length(all); i++)
		if (all[i]->count != samples)
			return error_create("'samples': columns of different lengths");
	for (size_t i = 0; i < array_length(some); i++)
		if (some[i]->count && some[i]->count != samples)
			return error_create("'samples': columns of different lengths");
	return NULL;
}

/* The numbers that the file's frames and nodes have in the profile: equal ones are one there. */
struct numbers {
	uint32_t *frames, *nodes;
	size_t node_count; /* of the file */
};

static struct error *add_frames(struct profile_parser *p, struct numbers *numbers)
{
	struct profile *profile = p->profile;

	for (size_t i = 0; i < p->frames.count; i++) {
		const struct frame *frame = &p->frames.items[i];
		struct error *err;

		if (frame->image > profile->images.count)
			return points_nowhere("frames", i, "image");
		err = profile_frame(profile, frame, &numbers->frames[i]);
		if (err)
			return err;
	}
	array_deinit(&p->frames);
	return NULL;
}

static struct error *add_nodes(struct profile_parser *p, struct numbers *numbers, size_t frames)
{
	if (!array_reserve(&p->profile->nodes, p->nodes.parent.count))
		return &error_no_memory;
	for (size_t i = 0; i < p->nodes.parent.count; i++) {
		const uint32_t parent = p->nodes.parent.items[i], frame = p->nodes.frame.items[i];
		struct error *err;

		if (parent != INDEX_NONE && parent >= i)
			return error_create("'nodes', item %zu: its 'parent' does not come before "
					    "it",
					    i);
		if (frame >= frames)
			return points_nowhere("nodes", i, "frame");
		err = profile_node(p->profile,
				   parent == INDEX_NONE ? NODE_NONE : numbers->nodes[parent],
				   numbers->frames[frame], &numbers->nodes[i]);
		if (err)
			return err;
	}
	array_deinit(&p->nodes.parent);
	array_deinit(&p->nodes.frame);
	/* Most profiles are only shown. */
	tree_index_deinit(&p->profile->node_index);
	return NULL;
}

static struct error *get_sample(const struct profile_parser *p, const struct numbers *numbers,
				size_t i, struct sample *ret)
{
	const struct profile *profile = p->profile;
	uint64_t thread = p->samples.thread.items[i], node = p->samples.node.items[i];
	uint64_t number = p->samples.class.items[i], event = at(&p->samples.event, i, 0);
	uint64_t state = at(&p->samples.state, i, NO_NUMBER), waker = at(&p->samples.waker, i, 0);
	uint16_t class;
	uint64_t cpu = at(&p->samples.cpu, i, NO_NUMBER);

	if (thread >= profile->threads.count)
		return points_nowhere("samples", i, "thread");
	if (node != NO_NUMBER && node >= numbers->node_count)
		return points_nowhere("samples", i, "node");
	if (number >= p->classes.count || p->classes.items[number] == CLASS_COUNT)
		return points_nowhere("samples", i, "class");
	class = p->classes.items[number];
	if (state != NO_NUMBER && state >= p->states.count)
		return points_nowhere("samples", i, "state");
	if (event > UINT16_MAX || (class == CLASS_EVENT && event >= profile->events.count) ||
	    (class != CLASS_EVENT && event))
		return points_nowhere("samples", i, "event");
	if (waker > profile->wakers.count)
		return points_nowhere("samples", i, "waker");
	if (cpu != NO_NUMBER && cpu >= CPU_ANY)
		return error_create("'samples', item %zu: the CPU is out of range", i);
	*ret = (struct sample){
		.thread = (uint32_t)thread,
		.node = node == NO_NUMBER ? NODE_NONE : numbers->nodes[node],
		.class = class,
		.state = state == NO_NUMBER ? 0 : p->states.items[state],
		.event = (uint16_t)event,
		.cpu = cpu == NO_NUMBER ? CPU_ANY : (uint16_t)cpu,
		.is_in_progress = at(&p->samples.in_progress, i, 0) == 1,
		.ns = p->samples.ns.items[i],
		.count = p->samples.count.items[i],
		.longest_ns = at(&p->samples.longest_ns, i, 0),
		.waker = (uint32_t)waker,
	};
	return NULL;
}

static struct error *add_samples(struct profile_parser *p, const struct numbers *numbers)
{
	const size_t count = p->samples.thread.count;
	_cleanup_free_ struct sample *samples = malloc((count + 1) * sizeof(*samples));
	struct error *err = samples ? NULL : &error_no_memory;

	for (size_t i = 0; i < count && !err; i++)
		err = get_sample(p, numbers, i, &samples[i]);
	p->profile->meta.lacks_states = !p->samples.state.count;
	return err ? err : profile_take_samples(p->profile, take_ptr(samples), count);
}

static struct error *check_images(struct profile *p, const struct name *none)
{
	for (size_t i = 0; i < p->mappings.count; i++) {
		if (p->mappings.items[i].end < p->mappings.items[i].start)
			return error_create("'mappings', item %zu: its end is before its start", i);
		if (!p->mappings.items[i].path)
			p->mappings.items[i].path = none;
	}
	for (size_t i = 0; i < p->images.count; i++)
		if (p->images.items[i].first_mapping > p->mappings.count ||
		    p->images.items[i].mapping_count >
			    p->mappings.count - p->images.items[i].first_mapping)
			return points_nowhere("images", i, "first_mapping");
	return NULL;
}

static struct error *check_threads(struct profile *p, const struct name *none)
{
	for (size_t i = 0; i < p->threads.count; i++) {
		struct profile_thread *thread = &p->threads.items[i];

		if (thread->image > p->images.count)
			return points_nowhere("threads", i, "image");
		if (!thread->name)
			thread->name = none;
		if (!thread->process)
			thread->process = none;
	}
	return NULL;
}

static struct error *check_details(struct profile_parser *p, const struct numbers *numbers,
				   const struct name *none)
{
	struct profile *profile = p->profile;

	for (size_t i = 0; i < profile->longest.count; i++) {
		struct block *block = &profile->longest.items[i];

		if (block->thread >= profile->threads.count)
			return points_nowhere("longest", i, "thread");
		if (block->node != NODE_NONE && block->node >= numbers->node_count)
			return points_nowhere("longest", i, "node");
		block->state = profile_settle_state(block->class, block->state);
		if (block->node != NODE_NONE)
			block->node = numbers->nodes[block->node];
	}
	for (size_t i = 0; i < profile->wakers.count; i++)
		if (!profile->wakers.items[i].name)
			profile->wakers.items[i].name = none;
	for (size_t i = 0; i < profile->preemptors.count; i++) {
		struct preemptor *preemptor = &profile->preemptors.items[i];

		if (preemptor->thread >= profile->threads.count)
			return points_nowhere("contenders", i, "thread");
		if (!preemptor->name)
			preemptor->name = none;
	}
	for (size_t i = 0; i < profile->histograms.count; i++)
		if (profile->histograms.items[i].thread >= profile->threads.count)
			return points_nowhere("histograms", i, "thread");
	return NULL;
}

static struct error *put_together(struct profile_parser *p, struct numbers *numbers)
{
	struct profile *profile = p->profile;
	const struct name *none = profile_name(profile, "", 0);
	size_t frames = p->frames.count;
	struct error *err = none ? check_images(profile, none) : &error_no_memory;

	if (!err)
		err = check_threads(profile, none);
	if (!err)
		err = add_frames(p, numbers);
	if (!err)
		err = add_nodes(p, numbers, frames);
	if (!err)
		err = add_samples(p, numbers);
	return err ? err : check_details(p, numbers, none);
}

struct error *profile_link(struct profile_parser *p)
{
	struct numbers numbers = {
		.frames = calloc(p->frames.count + 1, sizeof(*numbers.frames)),
		.nodes = calloc(p->nodes.parent.count + 1, sizeof(*numbers.nodes)),
		.node_count = p->nodes.parent.count,
	};
	struct error *err = numbers.frames && numbers.nodes ? NULL : &error_no_memory;

	if (!err)
		err = check_lengths(p);
	if (!err)
		err = put_together(p, &numbers);
	free(numbers.frames);
	free(numbers.nodes);
	return err;
}
