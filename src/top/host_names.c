/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/host_names.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "os/cgroup_path.h"

/* Some 400,000 names of threads; paths are longer. */
#define ARENA_MOST   ((size_t)64 << 20)
#define CGROUPS_MOST (1u << 20)

struct error *host_names_init(struct host_names *names)
{
	struct error *err = NULL;

	*names = (struct host_names){ .tree = { .dir = -1 } };
	arena_init(&names->arena, ARENA_MOST);
	names_init(&names->names, &names->arena);
	names->unknown = names_intern(&names->names, "?", 1);
	if (!names->unknown)
		err = &error_no_memory;
	names->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!err && names->proc >= 0)
		err = cgroup_tree_open(names->proc, &names->tree);
	if (err)
		host_names_deinit(names);
	return err;
}

void host_names_deinit(struct host_names *names)
{
	names_deinit(&names->names);
	arena_deinit(&names->arena);
	word_map_deinit(&names->cgroups);
	array_deinit(&names->paths);
	cgroup_tree_close(&names->tree);
	if (names->proc >= 0)
		close(names->proc);
	*names = (struct host_names){ .proc = -1, .tree = { .dir = -1 } };
}

static const struct name *intern_bytes(struct host_names *names, const char *bytes, size_t length)
{
	const struct name *name = names_intern(&names->names, bytes, length);

	return name ? name : names->unknown;
}

const struct name *host_names_of(struct host_names *names, const char *bytes, size_t room)
{
	return intern_bytes(names, bytes, strnlen(bytes, room));
}

const struct name *host_names_again(struct host_names *names, const struct name *known,
				    const char *bytes, size_t room)
{
	const size_t length = strnlen(bytes, room);

	if (known && known->length == length && memcmp(known->bytes, bytes, length) == 0)
		return known;
	return intern_bytes(names, bytes, length);
}

static const struct name *look_up(struct host_names *names, uint64_t id)
{
	char bytes[PATH_MAX];

	return cgroup_path(names->tree.dir, id, bytes, sizeof(bytes))
		       ? names_intern(&names->names, bytes, strlen(bytes))
		       : NULL;
}

/* A number is never given again, so what could not be found once is not looked for again. */
const struct name *host_names_cgroup(struct host_names *names, uint64_t id)
{
	const struct words words = { { id } };
	const uint32_t known = word_map_find(&names->cgroups, words);
	const struct name *path;
	uint32_t *place;

	if (known != WORD_MAP_NEW)
		return names->paths.items[known];
	path = look_up(names, id);
	place = names->paths.count < CGROUPS_MOST ? word_map_at(&names->cgroups, words) : NULL;
	if (place && array_push(&names->paths, path))
		*place = (uint32_t)names->paths.count - 1;
	return path;
}
