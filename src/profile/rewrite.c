/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/rewrite.h"

#include <string.h>

static struct error *check_stacks(const struct profile *profile)
{
	for (size_t i = 0; i < profile->nodes.count; i++) {
		const struct node *node = &profile->nodes.items[i];

		if (node->frame >= profile->frames.count ||
		    (node->parent != NODE_NONE && node->parent >= i))
			return error_create("stack node %zu is malformed", i);
	}
	for (size_t i = 0; i < profile->samples.count; i++)
		if (profile->samples.items[i].node != NODE_NONE &&
		    profile->samples.items[i].node >= profile->nodes.count)
			return error_create("sample %zu has no stack", i);
	for (size_t i = 0; i < profile->longest.count; i++)
		if (profile->longest.items[i].node != NODE_NONE &&
		    profile->longest.items[i].node >= profile->nodes.count)
			return error_create("block %zu has no stack", i);
	return NULL;
}

static const struct frame *frame_of(const struct profile *profile, uint32_t node)
{
	return &profile->frames.items[profile->nodes.items[node].frame];
}

/* The role of the caller of `node`, which has one. */
static enum frame_role role_of_parent(const struct profile *profile, uint32_t node)
{
	uint32_t parent = profile->nodes.items[node].parent;

	return frame_of(profile, parent)->kind == frame_of(profile, node)->kind ? ROLE_CALLER
										: ROLE_INNERMOST;
}

/* The roles of each node. */
static struct error *node_roles(const struct profile *profile, uint8_t **ret)
{
	struct error *err = check_stacks(profile);
	uint8_t *roles;

	if (err)
		return err;
	roles = calloc(profile->nodes.count + 1, 1);
	if (!roles)
		return &error_no_memory;
	for (uint32_t i = 0; i < profile->nodes.count; i++)
		if (profile->nodes.items[i].parent != NODE_NONE)
			roles[profile->nodes.items[i].parent] |= 1 << role_of_parent(profile, i);
	for (size_t i = 0; i < profile->samples.count; i++)
		if (profile->samples.items[i].node != NODE_NONE)
			roles[profile->samples.items[i].node] |= 1 << ROLE_INNERMOST;
	for (size_t i = 0; i < profile->longest.count; i++)
		if (profile->longest.items[i].node != NODE_NONE)
			roles[profile->longest.items[i].node] |= 1 << ROLE_INNERMOST;
	*ret = roles;
	return NULL;
}

struct error *rewrite_roles(const struct profile *profile, uint8_t **ret)
{
	_cleanup_free_ uint8_t *nodes = NULL;
	struct error *err = node_roles(profile, &nodes);
	uint8_t *frames;

	if (err)
		return err;
	frames = calloc(profile->frames.count + 1, 1);
	if (!frames)
		return &error_no_memory;
	for (size_t i = 0; i < profile->nodes.count; i++)
		frames[profile->nodes.items[i].frame] |= nodes[i];
	*ret = frames;
	return NULL;
}

struct error *rewrite_keep(struct profile *profile, const struct frame *frame, uint32_t parent,
			   uint32_t *ret)
{
	uint32_t number;
	struct error *err = profile_frame(profile, frame, &number);

	return err ? err : profile_node(profile, parent, number, ret);
}

/* --- making anew --- */

/* Move the stacks, which are made again; names stay. */
static void take_stacks(struct profile *from, struct profile *to)
{
	to->frames = from->frames;
	to->nodes = from->nodes;
	to->samples = from->samples;
	to->frame_numbers = from->frame_numbers;
	to->node_index = from->node_index;
	to->sample_numbers = from->sample_numbers;
	memset(&from->frames, 0, sizeof(from->frames));
	memset(&from->nodes, 0, sizeof(from->nodes));
	memset(&from->samples, 0, sizeof(from->samples));
	from->frame_numbers = from->sample_numbers = (struct word_map){ 0 };
	from->node_index = (struct tree_index){ 0 };
}

static void drop_stacks(struct profile *profile)
{
	array_deinit(&profile->frames);
	array_deinit(&profile->nodes);
	array_deinit(&profile->samples);
	word_map_deinit(&profile->frame_numbers);
	tree_index_deinit(&profile->node_index);
	word_map_deinit(&profile->sample_numbers);
}

/* The new number of a node in each of its roles. */
struct renumbering {
	uint32_t node[ROLES];
};

static struct error *put_node(const struct profile *old, uint32_t i, uint8_t roles,
			      struct renumbering *numbers, rewrite_put *put, void *context)
{
	const struct node *node = &old->nodes.items[i];
	uint32_t parent = NODE_NONE;

	if (node->parent != NODE_NONE)
		parent = numbers[node->parent].node[role_of_parent(old, i)];
	for (enum frame_role role = 0; role < ROLES; role++) {
		struct error *err;

		if (!(roles >> role & 1))
			continue;
		err = put(context, node->frame, &old->frames.items[node->frame], role, parent,
			  &numbers[i].node[role]);
		if (err)
			return err;
	}
	return NULL;
}

static uint32_t renumber(const struct renumbering *numbers, uint32_t node)
{
	return node == NODE_NONE ? node : numbers[node].node[ROLE_INNERMOST];
}

static struct error *put_all(struct profile *profile, const struct profile *old,
			     const uint8_t *roles, struct renumbering *numbers, rewrite_put *put,
			     void *context)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < old->nodes.count && !err; i++)
		err = put_node(old, i, roles[i], numbers, put, context);
	for (size_t i = 0; i < old->samples.count && !err; i++) {
		struct sample sample = old->samples.items[i];

		sample.node = renumber(numbers, sample.node);
		err = profile_add(profile, &sample);
	}
	return err;
}

struct error *rewrite_stacks(struct profile *profile, rewrite_put *put, void *context)
{
	_cleanup_free_ uint8_t *roles = NULL;
	_cleanup_free_ struct renumbering *numbers = NULL;
	struct profile old = { 0 };
	struct error *err = node_roles(profile, &roles);

	if (err)
		return err;
	numbers = calloc(profile->nodes.count + 1, sizeof(*numbers));
	if (!numbers)
		return &error_no_memory;
	take_stacks(profile, &old);
	/* About as many as before. */
	err = array_reserve(&profile->nodes, old.nodes.count)
		      ? put_all(profile, &old, roles, numbers, put, context)
		      : &error_no_memory;
	if (err) {
		drop_stacks(profile);
		take_stacks(&old, profile);
		return err;
	}
	drop_stacks(&old);
	for (size_t i = 0; i < profile->longest.count; i++)
		profile->longest.items[i].node = renumber(numbers, profile->longest.items[i].node);
	return NULL;
}
