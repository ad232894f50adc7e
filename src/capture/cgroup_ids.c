/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/cgroup_ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/session.h"
#include "os/cgroup.h"

void cgroup_ids_deinit(struct cgroup_ids *ids)
{
	for (size_t i = 0; i < ids->known.count; i++)
		free(ids->known.items[i].path);
	array_deinit(&ids->known);
	word_map_deinit(&ids->numbers);
}

/* Can the number of a cgroup be verified? */
static bool can_tell(const struct capture *c)
{
	return c->cgroups.dir >= 0 && sizeof(ino_t) >= sizeof(uint64_t);
}

/* Does the cgroup at this path have that number? If it cannot be verified, assume so. On 64-bit
 * systems the inode number is that of the cgroup (fs/kernfs/dir.c). */
static bool is_it(struct capture *c, const struct name *path, uint64_t id)
{
	struct text root = c->cgroups.root ? text_of(c->cgroups.root) : TEXT("/"), below;
	_cleanup_free_ char *relative = NULL;
	struct stat status;

	if (!can_tell(c))
		return true;
	if (!cgroup_below_mount(root, name_text(path), &below))
		return false;
	relative = below.length ? strndup(below.bytes, below.length) : strdup(".");
	return relative && fstatat(c->cgroups.dir, relative, &status, 0) == 0 &&
	       status.st_ino == id;
}

static void forget(struct cgroup_ids *ids)
{
	cgroup_ids_deinit(ids);
	*ids = (struct cgroup_ids){ 0 };
}

void cgroup_ids_begin(struct capture *c)
{
	if (!can_tell(c))
		forget(&c->capturer->cgroup_ids);
}

/* Remember it for the threads and captures to come. */
static bool keep_path(struct capture *c, uint64_t id, const struct name *path)
{
	struct cgroup_ids *ids = &c->capturer->cgroup_ids;
	uint32_t *number = word_map_at(&ids->numbers, (struct words){ { id } });
	struct known_cgroup known = { .path = strdup(path->bytes),
				      .name = path,
				      .taken = c->capturer->taken };

	if (!number || !known.path || !array_push(&ids->known, known)) {
		free(known.path);
		return false;
	}
	*number = (uint32_t)ids->known.count - 1;
	return true;
}

/* A host that makes and drops cgroups all the time must not fill our memory. */
#define KNOWN_MAX 100000

const struct name *cgroup_ids_path(struct capture *c, uint64_t id, uint32_t tid)
{
	struct cgroup_ids *ids = &c->capturer->cgroup_ids;
	const struct name *path;
	uint32_t number;

	if (id && ids->last < ids->known.count && ids->last_id == id &&
	    ids->known.items[ids->last].taken == c->capturer->taken)
		return ids->known.items[ids->last].name;
	number = word_map_find(&ids->numbers, (struct words){ { id } });
	if (number != WORD_MAP_NEW) {
		struct known_cgroup *known = &ids->known.items[number];

		if (known->taken != c->capturer->taken) {
			known->taken = c->capturer->taken;
			known->name = snapshot_name(c->snapshot, text_of(known->path));
		}
		ids->last = number;
		ids->last_id = id;
		return known->name;
	}
	path = capture_cgroup_path(c, tid);
	if (path && ids->known.count >= KNOWN_MAX)
		forget(ids);
	if (path && is_it(c, path, id) && !keep_path(c, id, path))
		return NULL;
	return path;
}
