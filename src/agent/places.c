/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/places.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"

struct agent_places {
	struct cgroup_labels_reader *reader;
	struct {
		MAP(struct text, uint64_t); /* owned paths; when each was read */
	} seen;
	struct {
		ARRAY(struct agent_place);
	} rows;
};

struct error *agent_places_create(int proc, struct agent_places **ret)
{
	_cleanup_(agent_places_destroy) struct agent_places *places = calloc(1, sizeof(*places));
	struct error *err;

	if (!places)
		return &error_no_memory;
	err = cgroup_labels_open(proc, &places->reader);
	if (err)
		return err;
	*ret = take_ptr(places);
	return NULL;
}

static void forget(struct agent_places *places)
{
	map_for_each(&places->seen, slot) free((char *)slot->key.bytes);
	map_deinit(&places->seen);
}

void agent_places_destroy(struct agent_places *places)
{
	if (!places)
		return;
	forget(places);
	cgroup_labels_close(places->reader);
	array_deinit(&places->rows);
	free(places);
}

/* Note that the cgroup is read now. *ret: is it due? */
static struct error *visit(struct agent_places *places, struct text cgroup, uint64_t now_ns,
			   bool *ret)
{
	uint64_t *when = map_find(&places->seen, cgroup);
	char *copy;

	*ret = !when || now_ns - *when >= AGENT_PLACES_AGAIN_NS;
	if (when) {
		if (*ret)
			*when = now_ns;
		return NULL;
	}
	if (places->seen.count >= AGENT_PLACES_MAX)
		forget(places);
	copy = strndup(cgroup.bytes, cgroup.length);
	if (!copy)
		return &error_no_memory;
	when = map_add(&places->seen, ((struct text){ copy, cgroup.length }), NULL);
	if (!when) {
		free(copy);
		return &error_no_memory;
	}
	*when = now_ns;
	return NULL;
}

struct error *agent_places_take(struct agent_places *places, const struct profile *profile,
				uint64_t now_ns, const struct agent_place **ret, size_t *count)
{
	const struct name *before = NULL;

	places->rows.count = 0;
	for (size_t i = 0; i < profile->threads.count && places->rows.count < AGENT_PLACES_AT_ONCE;
	     i++) {
		const struct profile_thread *thread = &profile->threads.items[i];
		struct agent_place place = { .cgroup = name_text(thread->cgroup) };
		struct error *err;
		bool is_due;

		/* Threads of a process come one after another. */
		if (!thread->cgroup || thread->cgroup == before)
			continue;
		before = thread->cgroup;
		err = visit(places, place.cgroup, now_ns, &is_due);
		if (err)
			return err;
		if (!is_due)
			continue;
		cgroup_labels_read(places->reader, place.cgroup, thread->tgid, &place.labels);
		if (!array_push(&places->rows, place))
			return &error_no_memory;
	}
	*ret = places->rows.items;
	*count = places->rows.count;
	return NULL;
}
