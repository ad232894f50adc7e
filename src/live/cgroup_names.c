/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/cgroup_names.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "proc/cgroup_path.h"
#include "proc/cgroup_tree.h"

void cgroup_names_init(struct cgroup_names *cgroups, struct names *names)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cgroup_tree tree;
	struct error *err;

	*cgroups = (struct cgroup_names){ .names = names, .tree = -1 };
	if (proc < 0)
		return;
	err = cgroup_tree_open(proc, &tree);
	if (err) {
		error_destroy(err);
		return;
	}
	cgroups->tree = take_fd(tree.dir);
	cgroup_tree_close(&tree);
}

const struct name *cgroup_names_of(struct cgroup_names *cgroups, uint64_t id)
{
	char path[4096];
	uint32_t *place = word_map_at(&cgroups->places, (struct words){ { id } });
	const struct name *name = NULL;

	if (!place)
		return NULL;
	if (*place != WORD_MAP_NEW)
		return cgroups->known.items[*place];
	if (cgroups->tree >= 0 && cgroup_path(cgroups->tree, id, path, sizeof(path)))
		name = names_intern(cgroups->names, path, strlen(path));
	if (!array_reserve(&cgroups->known, 1))
		return name;
	*place = (uint32_t)cgroups->known.count;
	cgroups->known.items[cgroups->known.count++] = name;
	return name;
}

void cgroup_names_deinit(struct cgroup_names *cgroups)
{
	if (cgroups->tree >= 0)
		close(cgroups->tree);
	word_map_deinit(&cgroups->places);
	array_deinit(&cgroups->known);
}
