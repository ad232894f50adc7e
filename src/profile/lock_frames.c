/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/lock_frames.h"

#include <stdlib.h>

#include "base/sum.h"
#include "profile/known_frames.h"
#include "profile/reason.h"

/* May a wait in this state turn out to be for a lock of the program? The kernel only sees a wait
 * for files, for a condition or for a time. */
static bool may_be_for_lock(unsigned class, unsigned state)
{
	static const unsigned reasons = 1u << REASON_POLL | 1u << REASON_COND | 1u << REASON_TIMER |
					1u << REASON_OTHER | 1u << REASON_UNKNOWN;

	return class < CLASS_COUNT && profile_classes[class].is_off_cpu &&
	       reasons >> reason_of_state(state) & 1;
}

static bool is_lock_node(const struct profile *profile, uint32_t number)
{
	const struct node *node = &profile->nodes.items[number];
	const struct frame *frame = &profile->frames.items[node->frame];
	const struct name *caller = NULL;

	if (frame->kind != FRAME_USER)
		return false;
	if (node->parent != NODE_NONE)
		caller = profile->frames.items[profile->nodes.items[node->parent].frame].module;
	return frame_is_lock(frame->name, caller);
}

/* For each node, whether its function or one of its callers waits for a lock. Nodes of callers come
 * before those of callees. The caller frees it; NULL: no memory. */
static bool *find_nodes(const struct profile *profile)
{
	bool *locks = malloc(profile->nodes.count + 1);

	for (uint32_t i = 0; locks && i < profile->nodes.count; i++) {
		const uint32_t parent = profile->nodes.items[i].parent;

		locks[i] = (parent != NODE_NONE && locks[parent]) || is_lock_node(profile, i);
	}
	return locks;
}

/* `nodes` is the result of find_nodes(). */
struct lock_waits {
	const struct profile *profile;
	const bool *nodes;
};

static bool is_for_lock(const struct lock_waits *waits, unsigned class, unsigned state,
			uint32_t leaf)
{
	uint32_t node;

	if (leaf == NODE_NONE || !may_be_for_lock(class, state))
		return false;
	node = stack_waiter(waits->profile, leaf);
	return node != NODE_NONE && waits->nodes[node];
}

static bool name_lock(void *context, size_t number, struct sample *sample)
{
	const struct lock_waits *waits = context;

	(void)number;
	if (is_for_lock(waits, sample->class, sample->state, sample->node))
		sample->state = STATE_LOCK_FUTEX;
	return true;
}

struct error *lock_frames_apply(struct profile *profile)
{
	_cleanup_free_ bool *nodes = find_nodes(profile);
	struct lock_waits waits = { profile, nodes };
	bool is_any = false;

	if (!nodes)
		return &error_no_memory;
	for (size_t i = 0; i < profile->longest.count; i++) {
		struct block *block = &profile->longest.items[i];

		if (is_for_lock(&waits, block->class, block->state, block->node))
			block->state = STATE_LOCK_FUTEX;
	}
	for (size_t i = 0; i < profile->samples.count && !is_any; i++) {
		const struct sample *sample = &profile->samples.items[i];

		is_any = is_for_lock(&waits, sample->class, sample->state, sample->node);
	}
	return is_any ? profile_keep(profile, name_lock, &waits) : NULL;
}

void lock_frames_widen(struct reason_selection *selection)
{
	for (unsigned class = 0; class < CLASS_COUNT; class ++)
		for (unsigned state = 0; state < STATE_COUNT; state++)
			if (selection->states[class] >> STATE_LOCK_FUTEX & 1 &&
			    may_be_for_lock(class, state))
				selection->states[class] |= 1u << state;
}

struct error *lock_frames_lead(const struct profile *profile, struct lock_lead *ret)
{
	_cleanup_free_ bool *nodes = find_nodes(profile);
	uint64_t most = 0;

	if (!nodes)
		return &error_no_memory;
	*ret = (struct lock_lead){ .node = NODE_NONE };
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sample *sample = &profile->samples.items[i];
		uint32_t node;

		if (!profile_classes[sample->class].is_off_cpu || sample->class == CLASS_RUNNABLE)
			continue;
		sum_add(&ret->all_ns, sample->ns);
		node = sample->node == NODE_NONE ? NODE_NONE : stack_waiter(profile, sample->node);
		if (sample->state != STATE_LOCK_FUTEX || node == NODE_NONE || !nodes[node])
			continue;
		sum_add(&ret->ns, sample->ns);
		if (sample->ns > most) {
			most = sample->ns;
			ret->node = sample->node;
		}
	}
	return NULL;
}
