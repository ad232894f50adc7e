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
 * A million nodes of stacks have forty thousand that are not the first child of their parent. So
 * the first child of each node is in an array, mostly beside that of its parent, and only others
 * are in a map: a map of all took 200 ns a node, in memory that no cache holds.
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
	ARRAY(uint32_t);     /* by node: its first child, or NODE_NONE */
	uint32_t first_root; /* the same of the roots */
	struct {
		MAP(uint64_t, uint32_t);
	} others; /* parent and label of all other children */
};

/* The number of the child of `parent` (NODE_NONE: of the root) that has the label of `frame`, which
 * is added if it is not there. A label is the frame itself, or `labels` (NULL: none) has it by
 * frame. Nodes that came another way are indexed first; of equal ones the first is found. */
struct error *tree_add(struct tree_index *index, struct tree_nodes *nodes, const uint32_t *labels,
		       uint32_t parent, uint32_t frame, uint32_t *ret) MUST_CHECK;

/* The tree stays, and is indexed again when a node is added. */
void tree_index_deinit(struct tree_index *index);

#endif
