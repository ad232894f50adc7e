/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers of all pictures of a flame graph.
 */
#ifndef REPORT_FLAME_WALK_H
#define REPORT_FLAME_WALK_H

#include "profile/flame.h"

/* The node after this one below `top`, callers before what they call; NODE_NONE after the last. */
static inline uint32_t flame_next(const struct flame *flame, uint32_t top, uint32_t node)
{
	const struct flame_node *nodes = flame->nodes.items;

	if (nodes[node].first_child != NODE_NONE)
		return nodes[node].first_child;
	while (node != top && nodes[node].next == NODE_NONE)
		node = nodes[node].parent;
	return node == top ? NODE_NONE : nodes[node].next;
}

/* The width of a node. For two profiles it is the sum of both values, so that frames of only one
 * profile are visible, and callees are never wider than their callers. */
static inline double flame_weight(const struct flame *flame, const struct flame_node *node)
{
	return (double)flame_baseline(flame, node).total + (double)node->total;
}

/* A share of the whole; of nothing, nothing. */
static inline double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* From -1 (only in the first profile) to 1 (only in the second). */
static inline double flame_change(const struct flame *flame, const struct flame_node *node)
{
	double a = (double)flame_baseline(flame, node).total, b = (double)node->total;

	return share_of(b - a, a > b ? a : b);
}

/* The classes that occur in the flame with values in its unit, a bit each: in a flame of times,
 * hits of probes are not among them. */
static inline unsigned flame_classes(const struct flame *flame)
{
	unsigned wanted = flame->is_events ? FLAME_EVENTS : FLAME_ALL & ~FLAME_EVENTS, found = 0;

	for (unsigned class = 0; class < CLASS_COUNT; class ++)
		if (flame_of_class(flame, &flame->nodes.items[0], class).total)
			found |= 1u << class;
	return found & wanted;
}

#endif
