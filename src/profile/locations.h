/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places of a program, as pprof and OTLP have them: a location is a frame with the functions that
 * are inlined into it, so a stack has fewer locations than frames.
 *
 *	err = locations_find(profile, &locations);
 *	for (node = sample.node; node != NODE_NONE; node = location_caller(profile, node))
 *		use(locations.of_node[node]);
 *	locations_deinit(&locations);
 */
#ifndef PROFILE_LOCATIONS_H
#define PROFILE_LOCATIONS_H

#include "profile/profile.h"

/* For each node the location of its frame, counted from 0. Equal frames that are inlined into the
 * same are one. */
struct locations {
	uint32_t *of_node;
	uint32_t count;
};

struct error *locations_find(const struct profile *profile, struct locations *ret) MUST_CHECK;
/* All zero is none. */
void locations_deinit(struct locations *locations);

/* The last node of a location, from which its functions were called: the one that is not inlined.
 */
static inline uint32_t location_outermost(const struct profile *p, uint32_t node)
{
	while (p->frames.items[p->nodes.items[node].frame].inlined &&
	       p->nodes.items[node].parent != NODE_NONE)
		node = p->nodes.items[node].parent;
	return node;
}

/* The node from which the location of `node` was called, or NODE_NONE. */
static inline uint32_t location_caller(const struct profile *p, uint32_t node)
{
	return p->nodes.items[location_outermost(p, node)].parent;
}

#endif
