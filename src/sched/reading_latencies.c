/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies by cgroup.
 *
 * A cgroup keeps its place while it has threads. A free place is given to the cgroup whose threads
 * ran most since the last reading and that has none. Readings have differences, so counts of an
 * earlier owner do not appear again.
 */
#include "sched/reading.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <profile.skel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A cgroup loses its place after this many readings without a thread in it. */
#define READINGS_UNTIL_FREE 5

#define MAPPED_BYTES        (LATENCY_HISTOGRAM(LATENCY_SHARDS, 0, 0) * sizeof(struct latency_slots))

struct error *profile_open_latencies(struct profile_session *session)
{
	void *mapped;

	if (!session->options.latencies)
		return NULL;
	session->program->bss->state.latency_generation = 1;
	session->latency_places = calloc(LATENCY_PLACES, sizeof(*session->latency_places));
	if (!session->latency_places)
		return &error_no_memory;
	mapped = mmap(NULL, MAPPED_BYTES, PROT_READ, MAP_SHARED,
		      bpf_map__fd(session->program->maps.latencies), 0);
	if (mapped == MAP_FAILED)
		return error_system(errno, "cannot map histograms");
	session->latencies = mapped;
	return NULL;
}

void profile_close_latencies(struct profile_session *session)
{
	if (session->latencies)
		munmap(session->latencies, MAPPED_BYTES);
	for (size_t i = 0; session->latency_places && i < LATENCY_PLACES; i++)
		free(session->latency_places[i].path);
	free(session->latency_places);
}

/* --- what was counted --- */

/* Add what a histogram has gained since the last reading to the profile. Programs go on counting
 * meanwhile: later counts are in the next reading. */
static struct error *take_histogram(struct profile_reading *r, unsigned place, unsigned kind)
{
	const struct latency_slots *mapped = r->session->latencies;
	struct latency_slots *last = &r->session->latency_places[place].last[kind];
	const char *path = r->session->latency_places[place].path;
	struct profile_latency latency = { .kind = kind,
					   .histogram = histogram_create(LATENCY_FRAC_BITS) };
	struct latency_slots now = { 0 };

	if (!latency.histogram)
		return &error_no_memory;
	for (unsigned shard = 0; shard < LATENCY_SHARDS; shard++) {
		const struct latency_slots *from = &mapped[LATENCY_HISTOGRAM(shard, place, kind)];

		for (unsigned slot = 0; slot < LATENCY_SLOTS; slot++)
			now.counts[slot] += from->counts[slot];
		now.sum += from->sum;
	}
	for (unsigned slot = 0; slot < BUCKET_SLOTS(LATENCY_FRAC_BITS); slot++) {
		latency.histogram->slots[slot] = now.counts[slot] - last->counts[slot];
		latency.histogram->count += latency.histogram->slots[slot];
	}
	latency.histogram->sum = now.sum - last->sum;
	*last = now;
	if (!latency.histogram->count) {
		histogram_destroy(latency.histogram);
		return NULL;
	}
	if (path)
		latency.cgroup = profile_name(r->profile, path, strlen(path));
	if ((!path || latency.cgroup) && array_push(&r->profile->latencies, latency))
		return NULL;
	histogram_destroy(latency.histogram);
	return &error_no_memory;
}

/* --- places --- */

/* A cgroup without a place that has threads in this reading. */
struct seen_cgroup {
	uint64_t number, run_ns;
	const struct name *path;
};

struct seen_cgroups {
	ARRAY(struct seen_cgroup);
};

static int by_run_time(const void *left, const void *right)
{
	const struct seen_cgroup *a = left, *b = right;

	return a->run_ns < b->run_ns ? 1 : a->run_ns > b->run_ns ? -1 : 0;
}

static uint64_t run_time(const struct profile *profile, const struct name *path)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < profile->threads.count; i++)
		if (profile->threads.items[i].cgroup == path)
			ns += profile->threads.items[i].ns[CLASS_ON_CPU];
	return ns;
}

static struct latency_place *place_of(struct profile_session *session, uint64_t cgroup)
{
	for (size_t i = 1; i < LATENCY_PLACES; i++)
		if (session->latency_places[i].cgroup == cgroup)
			return &session->latency_places[i];
	return NULL;
}

/* Take places from cgroups without threads. Returns whether any place has become free. */
static bool free_places(struct profile_reading *r)
{
	struct profile_session *session = r->session;
	bool is_free = false;

	for (size_t i = 1; i < LATENCY_PLACES; i++) {
		struct latency_place *place = &session->latency_places[i];

		if (!place->cgroup)
			continue;
		if (map_find(&r->cgroups, (struct words){ { place->cgroup } }))
			place->unseen = 0;
		else if (++place->unseen >= READINGS_UNTIL_FREE) {
			bpf_map_delete_elem(bpf_map__fd(session->program->maps.latency_places),
					    &place->cgroup);
			free(place->path);
			place->path = NULL;
			place->cgroup = 0;
			is_free = true;
		}
	}
	return is_free;
}

static struct error *find_others(struct profile_reading *r, struct seen_cgroups *ret)
{
	map_for_each(&r->cgroups, slot)
	{
		struct seen_cgroup seen = { .number = slot->key.w[0] };

		if (!seen.number || slot->value >= r->profile->threads.count ||
		    place_of(r->session, seen.number))
			continue;
		seen.path = r->profile->threads.items[slot->value].cgroup;
		if (!seen.path)
			continue;
		seen.run_ns = run_time(r->profile, seen.path);
		if (!array_push(ret, seen))
			return &error_no_memory;
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_run_time);
	return NULL;
}

static struct error *give_place(struct profile_session *session, struct latency_place *place,
				const struct seen_cgroup *cgroup)
{
	const uint32_t number = (uint32_t)(place - session->latency_places);
	char *path = strdup(cgroup->path->bytes);

	if (!path)
		return &error_no_memory;
	if (bpf_map_update_elem(bpf_map__fd(session->program->maps.latency_places), &cgroup->number,
				&number, BPF_ANY)) {
		free(path);
		return error_system(errno, "cannot give a cgroup a histogram");
	}
	place->cgroup = cgroup->number;
	place->path = path;
	place->unseen = 0;
	return NULL;
}

static struct error *give_places(struct profile_reading *r)
{
	struct profile_session *session = r->session;
	struct seen_cgroups others = { 0 };
	bool is_changed = free_places(r);
	struct latency_place *place = place_of(session, 0);
	struct error *err = place ? find_others(r, &others) : NULL;

	for (size_t i = 0; !err && place && i < others.count; i++) {
		err = give_place(session, place, &others.items[i]);
		place = place_of(session, 0);
		is_changed = true;
	}
	if (is_changed)
		__sync_fetch_and_add(&session->program->bss->state.latency_generation, 1);
	array_deinit(&others);
	return err;
}

struct error *reading_latencies(struct profile_reading *r)
{
	struct error *err = NULL;

	for (unsigned place = 0; !err && place < LATENCY_PLACES; place++)
		for (unsigned kind = 0; !err && kind < LATENCY_KINDS; kind++)
			if (!place || r->session->latency_places[place].cgroup)
				err = take_histogram(r, place, kind);
	return err ? err : give_places(r);
}
