/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/rewrite.h"

#include <string.h>

/* The kind of each frame; NULL without memory. Frames are large, and are asked for by each node. */
static uint8_t *kinds_of(const struct profile *profile)
{
	uint8_t *kinds = malloc(profile->frames.count + 1);

	for (size_t i = 0; kinds && i < profile->frames.count; i++)
		kinds[i] = (uint8_t)profile->frames.items[i].kind;
	return kinds;
}

/* The role of a node that calls another one. */
static enum frame_role role_of_caller(const uint8_t *kinds, const struct node *caller,
				      const struct node *called)
{
	return kinds[caller->frame] == kinds[called->frame] ? ROLE_CALLER : ROLE_INNERMOST;
}

static struct error *add_leaf(const struct profile *profile, const char *what, size_t number,
			      uint32_t node, uint8_t *roles)
{
	if (node == NODE_NONE)
		return NULL;
	if (node >= profile->nodes.count)
		return error_create("%s %zu has no stack", what, number);
	roles[node] |= 1 << ROLE_INNERMOST;
	return NULL;
}

static struct error *find_roles(const struct profile *profile, const uint8_t *kinds, uint8_t *roles)
{
	const struct node *nodes = profile->nodes.items;
	struct error *err = NULL;

	for (size_t i = 0; i < profile->nodes.count; i++) {
		const uint32_t parent = nodes[i].parent;

		if (nodes[i].frame >= profile->frames.count || (parent != NODE_NONE && parent >= i))
			return error_create("stack node %zu is malformed", i);
		if (parent != NODE_NONE)
			roles[parent] |= 1 << role_of_caller(kinds, &nodes[parent], &nodes[i]);
	}
	for (size_t i = 0; i < profile->samples.count && !err; i++)
		err = add_leaf(profile, "sample", i, profile->samples.items[i].node, roles);
	for (size_t i = 0; i < profile->longest.count && !err; i++)
		err = add_leaf(profile, "block", i, profile->longest.items[i].node, roles);
	return err;
}

/* The roles of each node. */
static struct error *node_roles(const struct profile *profile, const uint8_t *kinds, uint8_t **ret)
{
	_cleanup_free_ uint8_t *roles = calloc(profile->nodes.count + 1, 1);
	struct error *err = roles && kinds ? find_roles(profile, kinds, roles) : &error_no_memory;

	if (!err)
		*ret = take_ptr(roles);
	return err;
}

struct error *rewrite_roles(const struct profile *profile, uint8_t **ret)
{
	_cleanup_free_ uint8_t *nodes = NULL, *kinds = kinds_of(profile);
	struct error *err = node_roles(profile, kinds, &nodes);
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

struct error *rewrite_push(struct profile *profile, const struct frame *frame,
			   struct rewrite_frames *ret)
{
	uint32_t number;
	struct error *err = profile_frame(profile, frame, &number);

	if (err)
		return err;
	return array_push(ret, number) ? NULL : &error_no_memory;
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

/* Frames are few and nodes are many: each frame is replaced once in each role, and each node is
 * made anew of the numbers of these. */
struct rewriting {
	struct profile *profile;
	const struct profile *old;
	uint8_t *kinds;               /* of each frame */
	uint8_t *roles;               /* of each node */
	struct rewrite_frames frames; /* of all replacements */
	struct replacement {
		uint32_t first, count; /* in `frames`; `count` 0: not known yet */
	} * replacements;              /* by frame and role */
	struct renumbering {
		uint32_t node[ROLES];
	} * numbers; /* the new number of each node in each of its roles */
	rewrite_frame *replace;
	void *context;
};

static struct error *replace_frame(struct rewriting *r, uint32_t frame, enum frame_role role,
				   struct replacement *ret)
{
	struct replacement *replacement = &r->replacements[(size_t)frame * ROLES + role];
	const size_t first = r->frames.count;
	struct error *err = NULL;

	if (!replacement->count)
		err = r->replace(r->context, frame, &r->old->frames.items[frame], role, &r->frames);
	if (err)
		return err;
	if (r->frames.count >= NODE_NONE)
		return &error_no_memory;
	if (!replacement->count)
		*replacement = (struct replacement){ (uint32_t)first,
						     (uint32_t)(r->frames.count - first) };
	*ret = *replacement;
	return NULL;
}

static struct error *put_in_role(struct rewriting *r, uint32_t frame, enum frame_role role,
				 uint32_t parent, uint32_t *ret)
{
	struct replacement replacement;
	struct error *err = replace_frame(r, frame, role, &replacement);

	for (uint32_t i = 0; i < replacement.count && !err; i++)
		err = profile_node(r->profile, parent, r->frames.items[replacement.first + i],
				   &parent);
	*ret = parent;
	return err;
}

static struct error *put_node(struct rewriting *r, uint32_t i)
{
	const struct node *node = &r->old->nodes.items[i];
	uint32_t parent = NODE_NONE;
	struct error *err = NULL;

	if (node->parent != NODE_NONE)
		parent = r->numbers[node->parent].node[role_of_caller(
			r->kinds, &r->old->nodes.items[node->parent], node)];
	for (enum frame_role role = 0; role < ROLES && !err; role++)
		if (r->roles[i] >> role & 1)
			err = put_in_role(r, node->frame, role, parent, &r->numbers[i].node[role]);
	return err;
}

static uint32_t renumber(const struct rewriting *r, uint32_t node)
{
	return node == NODE_NONE ? node : r->numbers[node].node[ROLE_INNERMOST];
}

static struct error *put_samples(struct rewriting *r)
{
	const size_t count = r->old->samples.count;
	struct sample *samples = malloc((count + 1) * sizeof(*samples));

	if (!samples)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++) {
		samples[i] = r->old->samples.items[i];
		samples[i].node = renumber(r, samples[i].node);
	}
	return profile_take_samples(r->profile, samples, count);
}

static struct error *put_all(struct rewriting *r)
{
	struct error *err = NULL;

	/* About as many as before. */
	if (!array_reserve(&r->profile->nodes, r->old->nodes.count))
		return &error_no_memory;
	for (uint32_t i = 0; i < r->old->nodes.count && !err; i++)
		err = put_node(r, i);
	return err ? err : put_samples(r);
}

static void deinit_rewriting(struct rewriting *r)
{
	free(r->kinds);
	free(r->roles);
	array_deinit(&r->frames);
	free(r->replacements);
	free(r->numbers);
}

struct error *rewrite_stacks(struct profile *profile, rewrite_frame *replace, void *context)
{
	struct profile old = { 0 };
	struct rewriting r = {
		.profile = profile, .old = &old, .replace = replace, .context = context
	};
	struct error *err;

	r.kinds = kinds_of(profile);
	err = node_roles(profile, r.kinds, &r.roles);
	if (err) {
		free(r.kinds);
		return err;
	}
	take_stacks(profile, &old);
	/* After an error it is made again when a node is added. */
	tree_index_deinit(&old.node_index);
	r.replacements = calloc(old.frames.count * ROLES + 1, sizeof(*r.replacements));
	r.numbers = malloc((old.nodes.count + 1) * sizeof(*r.numbers));
	err = r.replacements && r.numbers ? put_all(&r) : &error_no_memory;
	if (err) {
		drop_stacks(profile);
		take_stacks(&old, profile);
	} else {
		for (size_t i = 0; i < profile->longest.count; i++)
			profile->longest.items[i].node =
				renumber(&r, profile->longest.items[i].node);
		drop_stacks(&old);
		/* Most profiles are only shown from now on. */
		tree_index_deinit(&profile->node_index);
	}
	deinit_rewriting(&r);
	return err;
}
