/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/tree_index.h"

static uint32_t label_of(const uint32_t *labels, uint32_t frame)
{
	return labels ? labels[frame] : frame;
}

/* Where the number of the child stands; NODE_NONE: there is none yet. NULL without memory. */
static uint32_t *find_child(struct tree_index *index, const struct tree_nodes *nodes,
			    const uint32_t *labels, uint32_t parent, uint32_t label)
{
	uint32_t *child, *first = parent == NODE_NONE ? &index->first_root : &index->items[parent];

	bool is_new;

	if (*first == NODE_NONE || label_of(labels, nodes->items[*first].frame) == label)
		return first;
	child = map_add(&index->others, (uint64_t)parent << 32 | label, &is_new);
	if (child && is_new)
		*child = NODE_NONE;
	return child;
}

static bool index_nodes(struct tree_index *index, const struct tree_nodes *nodes,
			const uint32_t *labels)
{
	if (!index->count)
		index->first_root = NODE_NONE;
	if (!array_reserve(index, nodes->room - index->count))
		return false;
	while (index->count < nodes->count) {
		const struct node *node = &nodes->items[index->count];
		uint32_t *child = find_child(index, nodes, labels, node->parent,
					     label_of(labels, node->frame));

		if (!child)
			return false;
		if (*child == NODE_NONE)
			*child = (uint32_t)index->count;
		index->items[index->count++] = NODE_NONE;
	}
	return true;
}

struct error *tree_add(struct tree_index *index, struct tree_nodes *nodes, const uint32_t *labels,
		       uint32_t parent, uint32_t frame, uint32_t *ret)
{
	uint32_t *child;

	if ((!index->count || index->count < nodes->count) && !index_nodes(index, nodes, labels))
		return &error_no_memory;
	child = find_child(index, nodes, labels, parent, label_of(labels, frame));
	if (!child)
		return &error_no_memory;
	if (*child == NODE_NONE) {
		if (nodes->count >= NODE_NONE - 1 ||
		    !array_push(nodes, (struct node){ parent, frame }))
			return &error_no_memory;
		*ret = *child = (uint32_t)nodes->count - 1;
		return array_push(index, NODE_NONE) ? NULL : &error_no_memory;
	}
	*ret = *child;
	return NULL;
}

void tree_index_deinit(struct tree_index *index)
{
	array_deinit(index);
	map_deinit(&index->others);
	index->first_root = NODE_NONE;
}
