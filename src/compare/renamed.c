/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/renamed.h"

#include <stdlib.h>
#include <string.h>

enum { BASELINE = 1, CANDIDATE = 2 };

/* A cgroup by its name, and the kinds of thread in it. */
struct renamed_place {
	const struct name *label;
	unsigned sides;
	struct {
		ARRAY(uint32_t);
	} kinds;                           /* ascending once complete */
	const struct renamed_place *match; /* of a candidate: what it was */
	size_t common, all;
	const struct name *became; /* of a baseline: the first candidate that it is now ... */
	const struct name *joint;  /* ... and the name of both from now on */
};

struct search {
	struct keys *keys;
	size_t baselines;
	struct word_map numbers; /* of places, kinds, and kinds of places */
	size_t kinds;
	struct {
		ARRAY(struct renamed_place);
	} places;
	struct {
		ARRAY(struct renamed_place *);
	} olds, news; /* on one side only */
};

/* The last word of a key tells the kinds of entries of the map apart. */
enum { OF_PLACE, OF_KIND, OF_KIND_IN_PLACE };

/* --- what runs where --- */

static bool find_place(struct search *search, const struct name *label, uint32_t *ret)
{
	uint32_t *number =
		word_map_at(&search->numbers, (struct words){ { (uintptr_t)label, 0, OF_PLACE } });

	if (!number)
		return false;
	if (*number == WORD_MAP_NEW) {
		*number = (uint32_t)search->places.count;
		if (!array_push(&search->places, (struct renamed_place){ .label = label }))
			return false;
	}
	*ret = *number;
	return true;
}

static bool mark_sides(struct search *search)
{
	for (size_t s = 0; s < search->keys->snapshot_count; s++) {
		const struct ctprof_snapshot *snapshot = search->keys->snapshots[s];
		const struct name *last = NULL;
		uint32_t place;

		for (size_t t = 0; t < snapshot->threads.count; t++) {
			const struct name *path = snapshot_thread(snapshot, t)->cgroup;

			if (path == last)
				continue;
			last = path;
			if (!find_place(search, cgroup_names_of(&search->keys->cgroups, path),
					&place))
				return false;
			search->places.items[place].sides |=
				s < search->baselines ? BASELINE : CANDIDATE;
		}
	}
	return true;
}

static bool find_kind(struct search *search, const struct ctprof_thread *thread, uint32_t *ret)
{
	const struct name *process = keys_pattern(search->keys, thread->pcomm);
	const struct name *name = keys_pattern(search->keys, thread->comm);
	uint32_t *number;

	if (!process || !name)
		return false;
	number = word_map_at(&search->numbers,
			     (struct words){ { (uintptr_t)process, (uintptr_t)name, OF_KIND } });
	if (!number)
		return false;
	if (*number == WORD_MAP_NEW)
		*number = (uint32_t)search->kinds++;
	*ret = *number;
	return true;
}

static bool take_kind(struct search *search, const struct ctprof_thread *thread)
{
	const struct name *label = cgroup_names_of(&search->keys->cgroups, thread->cgroup);
	uint32_t number, kind, *seen;
	struct renamed_place *place;

	if (!find_place(search, label, &number))
		return false;
	place = &search->places.items[number];
	if (place->sides == (BASELINE | CANDIDATE) || !label->length)
		return true;
	if (!find_kind(search, thread, &kind))
		return false;
	seen = word_map_at(&search->numbers, (struct words){ { number, kind, OF_KIND_IN_PLACE } });
	if (!seen)
		return false;
	if (*seen != WORD_MAP_NEW)
		return true;
	*seen = 0;
	return array_push(&place->kinds, kind);
}

static bool take_kinds(struct search *search)
{
	for (size_t s = 0; s < search->keys->snapshot_count; s++) {
		const struct ctprof_snapshot *snapshot = search->keys->snapshots[s];

		for (size_t t = 0; t < snapshot->threads.count; t++)
			if (!take_kind(search, snapshot_thread(snapshot, t)))
				return false;
	}
	return true;
}

/* --- which are alike --- */

static int by_kinds(const void *a, const void *b)
{
	const struct renamed_place *x = *(const struct renamed_place *const *)a;
	const struct renamed_place *y = *(const struct renamed_place *const *)b;

	if (x->kinds.count != y->kinds.count)
		return x->kinds.count < y->kinds.count ? 1 : -1;
	return name_compare(x->label, y->label);
}

/* The places of one side alone; those with the most kinds first. */
static bool list_places(struct search *search)
{
	for (size_t i = 0; i < search->places.count; i++) {
		struct renamed_place *place = &search->places.items[i];

		place->kinds.count = sort_unique_u32(place->kinds.items, place->kinds.count);
		if ((place->sides == BASELINE && !array_push(&search->olds, place)) ||
		    (place->sides == CANDIDATE && !array_push(&search->news, place)))
			return false;
	}
	if (search->olds.count)
		qsort(search->olds.items, search->olds.count, sizeof(*search->olds.items),
		      by_kinds);
	if (search->news.count)
		qsort(search->news.items, search->news.count, sizeof(*search->news.items),
		      by_kinds);
	return true;
}

/* Kinds of both; 0 when there are too few, which is mostly clear after a few. */
static size_t common_kinds(const struct renamed_place *old, const struct renamed_place *new)
{
	size_t larger = old->kinds.count > new->kinds.count ? old->kinds.count : new->kinds.count;
	size_t spare = (size_t)((double)larger * (1 - RENAMED_INDEX_LEAST)) + 1, missed = 0;
	size_t common = 0, i = 0, k = 0;

	while (i < old->kinds.count && k < new->kinds.count &&missed <= 2 * spare) {
		uint32_t x = old->kinds.items[i], y = new->kinds.items[k];

		common += x == y;
		missed += x != y;
		i += x <= y;
		k += y <= x;
	}
	return missed <= 2 * spare ? common : 0;
}

/* The most alike; of several the one with the most kinds, which comes first. */
static void match_place(const struct search *search, struct renamed_place *new)
{
	double best = 0;

	for (size_t i = 0; i < search->olds.count && i < RENAMED_CGROUPS_MOST; i++) {
		struct renamed_place *old = search->olds.items[i];
		size_t common, all;
		double index;

		if (old->kinds.count < RENAMED_KINDS_LEAST)
			return;
		common = common_kinds(old, new);
		all = old->kinds.count + new->kinds.count - common;
		index = (double)common / (double)all;
		if (common < RENAMED_KINDS_LEAST || index < RENAMED_INDEX_LEAST || index <= best)
			continue;
		best = index;
		new->match = old;
		new->common = common;
		new->all = all;
		if (common == all)
			return;
	}
}

static size_t match_places(const struct search *search)
{
	size_t beyond = 0;

	for (size_t i = 0; i < search->news.count; i++) {
		if (search->news.items[i]->kinds.count < RENAMED_KINDS_LEAST)
			break;
		if (i < RENAMED_CGROUPS_MOST)
			match_place(search, search->news.items[i]);
		else
			beyond++;
	}
	return beyond;
}

/* --- what lies below them --- */

static struct text last_segment(struct text path)
{
	const char *slash = memrchr(path.bytes, '/', path.length);
	size_t start = slash ? (size_t)(slash - path.bytes) + 1 : 0;

	return (struct text){ path.bytes + start, path.length - start };
}

/* Strip the common end of two paths. */
static void strip_common(struct text *a, struct text *b)
{
	for (;;) {
		struct text x = last_segment(*a), y = last_segment(*b);

		if (!text_equal(x, y) || x.length + 1 >= a->length || y.length + 1 >= b->length)
			return;
		a->length -= x.length + 1;
		b->length -= y.length + 1;
	}
}

/* The old place that has the path of `new`, with one root for the other. */
static struct renamed_place *old_below(struct search *search, const struct renamed_place *new,
				       struct text old_root, struct text new_root)
{
	struct text path = name_text(new->label);
	size_t rest = path.length - new_root.length;
	_cleanup_free_ char *old_path = malloc(old_root.length + rest + 1);
	const struct name *label;
	uint32_t number;

	if (!old_path)
		return NULL;
	memcpy(old_path, old_root.bytes, old_root.length);
	memcpy(old_path + old_root.length, path.bytes + new_root.length, rest);
	label = names_intern(&search->keys->cgroups.names, old_path, old_root.length + rest);
	number = label ? word_map_find(&search->numbers,
				       (struct words){ { (uintptr_t)label, 0, OF_PLACE } })
		       : WORD_MAP_NEW;
	if (number == WORD_MAP_NEW || search->places.items[number].sides != BASELINE)
		return NULL;
	return &search->places.items[number];
}

static void match_below(struct search *search, const struct renamed_place *new)
{
	struct text old_root = name_text(new->match->label), new_root = name_text(new->label);

	strip_common(&old_root, &new_root);
	for (size_t i = 0; i < search->news.count; i++) {
		struct renamed_place *below = search->news.items[i];
		struct text path = name_text(below->label);

		if (!below->match && path.length > new_root.length && text_starts(path, new_root) &&
		    path.bytes[new_root.length] == '/')
			below->match = old_below(search, below, old_root, new_root);
	}
}

/* Only from those that were found by what runs in them. */
static void match_all_below(struct search *search)
{
	for (size_t i = 0; i < search->news.count && i < RENAMED_CGROUPS_MOST; i++)
		if (search->news.items[i]->match && search->news.items[i]->all)
			match_below(search, search->news.items[i]);
}

/* --- their new names --- */

static int by_label(const void *a, const void *b)
{
	return name_compare((*(const struct renamed_place *const *)a)->label,
			    (*(const struct renamed_place *const *)b)->label);
}

static bool list_pairs(struct search *search, struct renamed *renamed)
{
	if (search->news.count)
		qsort(search->news.items, search->news.count, sizeof(*search->news.items),
		      by_label);
	for (size_t i = 0; i < search->news.count; i++) {
		struct renamed_place *new = search->news.items[i], *old;
		uint32_t number;

		if (!new->match)
			continue;
		number = word_map_find(
			&search->numbers,
			(struct words){ { (uintptr_t) new->match->label, 0, OF_PLACE } });
		old = &search->places.items[number];
		if (!old->became)
			old->became = new->label;
		if (!array_push(renamed, (struct renamed_pair){ old->label, new->label, new->common,
								new->all }))
			return false;
	}
	return true;
}

static const struct name *joint_name(struct search *search, const struct renamed_place *old)
{
	struct text leaf = last_segment(name_text(old->became));
	struct text parts[] = { name_text(old->label), TEXT(" [renamed: "), leaf, TEXT("]") };
	_cleanup_free_ char *out = malloc(old->label->length + leaf.length + 32);
	size_t used = 0;

	for (size_t i = 0; out && i < array_length(parts); i++) {
		memcpy(out + used, parts[i].bytes, parts[i].length);
		used += parts[i].length;
	}
	return out ? names_intern(&search->keys->cgroups.names, out, used) : NULL;
}

static const struct name *new_name(void *context, const struct name *name)
{
	struct search *search = context;
	uint32_t number =
		word_map_find(&search->numbers, (struct words){ { (uintptr_t)name, 0, OF_PLACE } });
	const struct renamed_place *place;

	if (number == WORD_MAP_NEW)
		return name;
	place = &search->places.items[number];
	if (place->sides == CANDIDATE && place->match)
		place = place->match;
	return place->joint ? place->joint : name;
}

static bool make_names(struct search *search)
{
	for (size_t i = 0; i < search->places.count; i++) {
		struct renamed_place *place = &search->places.items[i];

		if (!place->became)
			continue;
		place->joint = joint_name(search, place);
		if (!place->joint)
			return false;
	}
	cgroup_names_change(&search->keys->cgroups, new_name, search);
	return true;
}

static bool search_renamed(struct search *search, struct renamed *renamed)
{
	if (!mark_sides(search) || !take_kinds(search) || !list_places(search))
		return false;
	renamed->not_looked_at = match_places(search);
	match_all_below(search);
	return list_pairs(search, renamed) && make_names(search);
}

struct error *renamed_find(struct renamed *renamed, struct keys *keys, size_t baselines)
{
	struct search search = { .keys = keys, .baselines = baselines };
	bool done;

	*renamed = (struct renamed){ 0 };
	done = search_renamed(&search, renamed);
	for (size_t i = 0; i < search.places.count; i++)
		array_deinit(&search.places.items[i].kinds);
	array_deinit(&search.places);
	array_deinit(&search.olds);
	array_deinit(&search.news);
	word_map_deinit(&search.numbers);
	if (!done)
		renamed_deinit(renamed);
	return done ? NULL : &error_no_memory;
}

void renamed_deinit(struct renamed *renamed)
{
	array_deinit(renamed);
}
