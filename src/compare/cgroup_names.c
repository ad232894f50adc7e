/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/cgroup_names.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/glob.h"
#include "base/pattern.h"

/* A path, after the steps that need only this path. */
struct path {
	const struct name *name;
	size_t seen; /* snapshots that have it ... */
	size_t last; /* ... the last of them, counted from 1 */
	bool flattened;
};

struct paths {
	ARRAY(struct path);
};

/* Different things are looked up in one map; this keeps them apart. */
enum { OF_SNAPSHOT, OF_PATH, OF_PATTERN };

static struct words name_kind_words(const struct name *name, uint64_t kind)
{
	return (struct words){ { (uintptr_t)name, kind, 0 } };
}

/* A pattern of `text`, interned. */
static const struct name *intern_pattern(struct cgroup_names *names, struct text text,
					 size_t (*make)(struct text, char *))
{
	_cleanup_free_ char *out = malloc(PATTERN_ROOM(text.length));

	return out ? names_intern(&names->names, out, make(text, out)) : NULL;
}

static const struct name *first_steps(struct cgroup_names *names, const struct cgroup_rules *rules,
				      struct text path, bool *ret_flattened)
{
	for (size_t i = 0; i < rules->flatten.count; i++) {
		struct text glob = text_of(rules->flatten.items[i]);

		*ret_flattened = glob_matches(glob.bytes, path);
		if (*ret_flattened)
			return names_intern(&names->names, glob.bytes, glob.length);
	}
	*ret_flattened = false;
	if (rules->literal)
		return names_intern(&names->names, path.bytes, path.length);
	return intern_pattern(names, path, pattern_of_unit_instances);
}

/* `snapshot` counts from 1. */
static bool take_path(struct cgroup_names *names, const struct cgroup_rules *rules,
		      struct paths *paths, const struct name *path, size_t snapshot)
{
	uint32_t number = word_map_find(&names->numbers, name_kind_words(path, OF_SNAPSHOT)),
		 *place;
	const struct name *name;
	bool flattened;

	if (number == WORD_MAP_NEW) {
		name = first_steps(names, rules, name_text(path), &flattened);
		place = name ? word_map_at(&names->numbers, name_kind_words(name, OF_PATH)) : NULL;
		if (!place)
			return false;
		if (*place == WORD_MAP_NEW) {
			*place = (uint32_t)paths->count;
			if (!array_push(paths, (struct path){ name, 0, 0, flattened }))
				return false;
		}
		number = *place;
		place = word_map_at(&names->numbers, name_kind_words(path, OF_SNAPSHOT));
		if (!place)
			return false;
		*place = number;
	}
	if (paths->items[number].last != snapshot) {
		paths->items[number].last = snapshot;
		paths->items[number].seen++;
	}
	return true;
}

static bool take_snapshot(struct cgroup_names *names, const struct cgroup_rules *rules,
			  struct paths *paths, const struct ctprof_snapshot *s, size_t number)
{
	const struct name *last = NULL;

	for (size_t i = 0; i < s->threads.count; i++) {
		const struct name *path = snapshot_thread(s, i)->cgroup;

		if (path != last && !take_path(names, rules, paths, path, number))
			return false;
		last = path;
	}
	for (size_t i = 0; i < s->cgroups.count; i++)
		if (!take_path(names, rules, paths, s->cgroups.items[i].path, number))
			return false;
	return true;
}

/* A pattern counts where it brings two paths together. */
static bool name_by_pattern(struct cgroup_names *names, const struct paths *paths, size_t count)
{
	for (size_t i = 0; i < paths->count; i++) {
		const struct path *path = &paths->items[i];
		const struct name *pattern;
		uint32_t *first;

		if (path->seen == count || path->flattened)
			continue;
		pattern = intern_pattern(names, name_text(path->name), pattern_of_name);
		first = pattern ? word_map_at(&names->numbers, name_kind_words(pattern, OF_PATTERN))
				: NULL;
		if (!first)
			return false;
		if (*first == WORD_MAP_NEW) {
			*first = (uint32_t)i;
			continue;
		}
		names->labels.items[*first] = pattern;
		names->labels.items[i] = pattern;
	}
	return true;
}

static bool name_all(struct cgroup_names *names, const struct cgroup_rules *rules,
		     const struct ctprof_snapshot *const *snapshots, size_t count)
{
	struct paths paths = { 0 };
	bool done = true;

	for (size_t i = 0; i < count && done; i++)
		done = take_snapshot(names, rules, &paths, snapshots[i], i + 1);
	for (size_t i = 0; i < paths.count && done; i++)
		done = array_push(&names->labels, paths.items[i].name);
	if (done && !rules->literal)
		done = name_by_pattern(names, &paths, count);
	array_deinit(&paths);
	return done;
}

struct error *cgroup_names_init(struct cgroup_names *names, const struct cgroup_rules *rules,
				const struct ctprof_snapshot *const *snapshots, size_t count)
{
	*names = (struct cgroup_names){ 0 };
	arena_init(&names->arena, SIZE_MAX / 2);
	names_init(&names->names, &names->arena);
	if (name_all(names, rules, snapshots, count))
		return NULL;
	cgroup_names_deinit(names);
	return &error_no_memory;
}

const struct name *cgroup_names_of(const struct cgroup_names *names, const struct name *path)
{
	return names->labels
		.items[word_map_find(&names->numbers, name_kind_words(path, OF_SNAPSHOT))];
}

void cgroup_names_change(struct cgroup_names *names,
			 const struct name *(*find)(void *context, const struct name *name),
			 void *context)
{
	for (size_t i = 0; i < names->labels.count; i++)
		names->labels.items[i] = find(context, names->labels.items[i]);
}

void cgroup_names_deinit(struct cgroup_names *names)
{
	array_deinit(&names->labels);
	word_map_deinit(&names->numbers);
	names_deinit(&names->names);
	arena_deinit(&names->arena);
}
