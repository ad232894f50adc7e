/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/host_names.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "os/cgroup.h"
#include "os/cgroup_path.h"

/* Some 400,000 names of threads; paths are longer. */
#define ARENA_MOST   ((size_t)64 << 20)
#define CGROUPS_MOST (1u << 20)

static bool has_v1(int proc)
{
	struct file_buffer buffer = { 0 };
	struct text bytes;
	bool has = !file_read(proc, "self/cgroup", &buffer, &bytes) && cgroup_path_has_v1(bytes);

	file_buffer_deinit(&buffer);
	return has;
}

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
	if (!err && names->proc >= 0) {
		err = cgroup_tree_open(names->proc, &names->tree);
		names->has_v1 = has_v1(names->proc);
	}
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
	word_map_deinit(&names->processes);
	array_deinit(&names->paths_v1);
	file_buffer_deinit(&names->buffer);
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

/* --- of version 1 --- */

/* Readings after which processes are looked at again: they may have moved. */
#define V1_READINGS 32
/* Processes of which the path is kept. */
#define V1_MOST (1u << 16)

void host_names_age(struct host_names *names)
{
	if (++names->readings % V1_READINGS && names->paths_v1.count < V1_MOST)
		return;
	word_map_deinit(&names->processes);
	names->processes = (struct word_map){ 0 };
	array_clear(&names->paths_v1);
}

/* `path` where nothing says more, or the process has ended. */
static const struct name *read_path(struct host_names *names, uint32_t tgid,
				    const struct name *path)
{
	struct text bytes, found;
	char file[32];

	snprintf(file, sizeof(file), "%" PRIu32 "/cgroup", tgid);
	if (file_read(names->proc, file, &names->buffer, &bytes) ||
	    !cgroup_path_parse_any(bytes, &found))
		return path;
	return host_names_again(names, path, found.bytes, found.length);
}

const struct name *host_names_cgroup_of(struct host_names *names, uint64_t id, uint32_t tgid,
					uint64_t leader_begun)
{
	const struct name *path = host_names_cgroup(names, id);
	struct process_path *known;
	uint32_t *place;

	if (!names->has_v1 || (path && !text_equal(name_text(path), TEXT("/"))))
		return path;
	place = word_map_at(&names->processes, (struct words){ { tgid } });
	if (!place)
		return path;
	if (*place == WORD_MAP_NEW) {
		const struct process_path read = { read_path(names, tgid, path), leader_begun };

		if (!array_push(&names->paths_v1, read))
			return path;
		*place = (uint32_t)names->paths_v1.count - 1;
	}
	known = &names->paths_v1.items[*place];
	/* Another process has the number. */
	if (leader_begun && known->leader_begun && leader_begun != known->leader_begun)
		known->path = read_path(names, tgid, path);
	if (leader_begun)
		known->leader_begun = leader_begun;
	return known->path;
}
