/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/tree_index.h"

static uint32_t label_of(const uint32_t *labels, uint32_t frame)
{
	return labels ? labels[frame] : frame;
}

/* Where the number of a child is that is not behind its parent, or NODE_NONE if there is none yet.
 * NULL without memory. */
static uint32_t *find_other(struct tree_index *index, uint32_t parent, uint32_t label)
{
	bool is_new;
	uint32_t *child = map_add(&index->others, (uint64_t)parent << 32 | label, &is_new);

	if (child && is_new)
		*child = NODE_NONE;
	return child;
}

static bool index_nodes(struct tree_index *index, const struct tree_nodes *nodes,
			const uint32_t *labels)
{
	for (; index->count < nodes->count; index->count++) {
		const struct node *node = &nodes->items[index->count];
		const struct node *first = &nodes->items[(uint32_t)(node->parent + 1)];
		const uint32_t label = label_of(labels, node->frame);
		uint32_t *child;

		if (first == node ||
		    (first->parent == node->parent && label_of(labels, first->frame) == label))
			continue;
		child = find_other(index, node->parent, label);
		if (!child)
			return false;
		if (*child == NODE_NONE)
			*child = (uint32_t)index->count;
	}
	return true;
}

struct error *tree_search(struct tree_index *index, struct tree_nodes *nodes,
			  const uint32_t *labels, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	uint32_t *child;

	if (index->count < nodes->count && !index_nodes(index, nodes, labels))
		return &error_no_memory;
	child = find_other(index, parent, label_of(labels, frame));
	if (!child)
		return &error_no_memory;
	if (*child == NODE_NONE) {
		if (nodes->count >= NODE_NONE - 1 ||
		    !array_push(nodes, (struct node){ parent, frame }))
			return &error_no_memory;
		*child = (uint32_t)nodes->count - 1;
		index->count++;
	}
	*ret = *child;
	return NULL;
}

void tree_index_deinit(struct tree_index *index)
{
	map_deinit(&index->others);
	index->count = 0;
}
