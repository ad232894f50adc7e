/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/locations.h"

/* Not yet, of a frame. */
#define NO_LOCATION UINT32_MAX

void locations_deinit(struct locations *locations)
{
	free(locations->of_node);
	*locations = (struct locations){ 0 };
}

/* The number of a frame that is inlined into a location. */
static struct error *find_inlined(struct word_map *inlined, uint64_t into, uint32_t frame,
				  struct locations *locations, uint32_t *ret)
{
	uint32_t *number = word_map_at(inlined, (struct words){ { into, frame } });

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW)
		*number = locations->count++;
	*ret = *number;
	return NULL;
}

/* Parents come before their children. Most frames are not inlined: these are not looked up. */
static struct error *find_all(const struct profile *p, uint32_t *of_frame, struct word_map *inlined,
			      struct locations *locations)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < p->nodes.count && !err; i++) {
		const struct node *node = &p->nodes.items[i];

		if (p->frames.items[node->frame].inlined && node->parent != NODE_NONE) {
			err = find_inlined(inlined, locations->of_node[node->parent], node->frame,
					   locations, &locations->of_node[i]);
			continue;
		}
		if (of_frame[node->frame] == NO_LOCATION)
			of_frame[node->frame] = locations->count++;
		locations->of_node[i] = of_frame[node->frame];
	}
	return err;
}

struct error *locations_find(const struct profile *profile, struct locations *ret)
{
	struct locations locations = { 0 };
	struct word_map inlined = { 0 };
	_cleanup_free_ uint32_t *of_frame = malloc((profile->frames.count + 1) * sizeof(*of_frame));
	struct error *err = &error_no_memory;

	locations.of_node = calloc(profile->nodes.count + 1, sizeof(*locations.of_node));
	if (of_frame)
		memset(of_frame, 0xff, (profile->frames.count + 1) * sizeof(*of_frame));
	if (of_frame && locations.of_node)
		err = find_all(profile, of_frame, &inlined, &locations);
	word_map_deinit(&inlined);
	if (err)
		locations_deinit(&locations);
	else
		*ret = locations;
	return err;
}
