/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries the executable mappings of a process one by one, with PROCMAP_QUERY, an ioctl on
 * /proc/<pid>/maps since Linux 6.11 (include/uapi/linux/fs.h). Reading all mappings as text costs
 * ten times as much.
 *
 *	struct map_query query = { .fd = maps };
 *	while ((failed = map_query_next(&query, &mapping)) == 0)
 *		look(&mapping);
 *	if (failed == ENOTTY)
 *		read the text instead;
 */
#ifndef OS_MAP_QUERY_H
#define OS_MAP_QUERY_H

#include <limits.h>
#include <linux/ioctl.h>

#include "os/maps.h"

/* PROCMAP_QUERY, with its struct of so many bytes. */
#define MAP_QUERY_BYTES        104
#define MAP_QUERY_REQUEST      _IOWR('f', 17, char[MAP_QUERY_BYTES])

#define MAP_QUERY_BUILD_ID_MAX 20

struct map_query {
	int fd;              /* of /proc/<pid>/maps; not owned */
	uint64_t from;       /* the address to go on at */
	bool with_nameless;  /* memory that no file is behind, too: "[vdso]", "" */
	bool with_build_ids; /* look into each file for its build-id */
	/* The length of the last build-id. */
	uint8_t build_id_length; /* 0: unknown, or not asked for */
	uint8_t build_id[MAP_QUERY_BUILD_ID_MAX];
	char path[PATH_MAX];
};

/* The next one, whose path is good until the next call. Returns 0 or an errno: ENOENT at the end,
 * and ENOTTY where the kernel does not know of this. */
int map_query_next(struct map_query *query, struct mapping *ret);

#endif
