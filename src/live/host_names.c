/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/host_names.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "proc/cgroup_path.h"

struct error *host_names_init(struct host_names *names)
{
	struct error *err = NULL;

	*names = (struct host_names){ .tree = { .dir = -1 } };
	arena_init(&names->arena, SIZE_MAX);
	names_init(&names->names, &names->arena);
	names->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (names->proc >= 0)
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

const struct name *host_names_of(struct host_names *names, const char *bytes, size_t room)
{
	return names_intern(&names->names, bytes, strnlen(bytes, room));
}

const struct name *host_names_again(struct host_names *names, const struct name *known,
				    const char *bytes, size_t room)
{
	const size_t length = strnlen(bytes, room);

	if (known && known->length == length && memcmp(known->bytes, bytes, length) == 0)
		return known;
	return names_intern(&names->names, bytes, length);
}

/* A number is never given again, so what could not be found once is not looked for again. */
const struct name *host_names_cgroup(struct host_names *names, uint64_t id)
{
	uint32_t *place = word_map_at(&names->cgroups, (struct words){ { id } });
	const struct name *path = NULL;
	char bytes[PATH_MAX];

	if (place && *place != WORD_MAP_NEW)
		return names->paths.items[*place];
	if (cgroup_path(names->tree.dir, id, bytes, sizeof(bytes)))
		path = host_names_of(names, bytes, sizeof(bytes));
	if (place && array_push(&names->paths, path))
		*place = (uint32_t)names->paths.count - 1;
	return path;
}
