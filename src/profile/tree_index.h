/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the child of a node that has a label, in a tree to which nodes are added.
 *
 *	struct tree_nodes nodes = { 0 };
 *	struct tree_index index = { 0 };
 *	uint32_t node;
 *
 *	err = tree_add(&index, &nodes, NULL, parent, frame, &node);
 *	...
 *	tree_index_deinit(&index);
 *
 * Stacks are added from their callers on, so the first child of a node is mostly the node behind
 * it: of a million nodes all but forty thousand. Only others are in a map: a map of all took 200 ns
 * a node, in memory that no cache holds.
 */
#ifndef PROFILE_TREE_INDEX_H
#define PROFILE_TREE_INDEX_H

#include "base/array.h"
#include "base/error.h"
#include "base/map.h"

/* No node: an empty stack, and the caller of the outermost frame. */
#define NODE_NONE UINT32_MAX

struct node {
	uint32_t parent; /* smaller than its own number, or NODE_NONE */
	uint32_t frame;
};

struct tree_nodes {
	ARRAY(struct node);
};

/* All zero is that of an empty tree, and of one that is not indexed yet. */
struct tree_index {
	size_t count; /* nodes that are indexed */
	struct {
		MAP(uint64_t, uint32_t);
	} others; /* parent and label of all children that are not behind their parent */
};

/* What tree_add() does where its answer is not in sight. */
struct error *tree_search(struct tree_index *index, struct tree_nodes *nodes,
			  const uint32_t *labels, uint32_t parent, uint32_t frame,
			  uint32_t *ret) MUST_CHECK;

/* The number of the child of `parent` (NODE_NONE: of the root) that has the label of `frame`, which
 * is added if it is not there. A label is the frame itself, or `labels` (NULL: none) has it by
 * frame. Nodes that came another way are indexed first; of equal ones the first is found. */
static inline struct error *MUST_CHECK tree_add(struct tree_index *index, struct tree_nodes *nodes,
						const uint32_t *labels, uint32_t parent,
						uint32_t frame, uint32_t *ret)
{
	/* Behind the root, which is before all, is the first node. */
	const uint32_t next = parent + 1;

	if (next < nodes->count && nodes->items[next].parent == parent &&
	    (nodes->items[next].frame == frame ||
	     (labels && labels[nodes->items[next].frame] == labels[frame]))) {
		*ret = next;
		return NULL;
	}
	/* The last node has no children. */
	if (next == nodes->count && index->count == next && nodes->count < NODE_NONE - 1) {
		if (!array_push(nodes, (struct node){ parent, frame }))
			return &error_no_memory;
		index->count++;
		*ret = next;
		return NULL;
	}
	return tree_search(index, nodes, labels, parent, frame, ret);
}

/* The tree stays, and is indexed again when a node is added. */
void tree_index_deinit(struct tree_index *index);

#endif
