/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps files of processes open until their frames are named, since many processes have ended by
 * then: mapped files, and the lists of compiled functions (elf/perf_map.h).
 *
 *	struct kept *kept = kept_create();
 *	kept_add_file(kept, pid, &mapping, fd);         while the process is there
 *	...
 *	fd = kept_open_file(kept, pid, &mapping);       any time later
 *	kept_release(kept);
 *
 * Thread-safe. The number of descriptors is bounded: the oldest is closed for a new one; a file of
 * another user than root and this one is replaced only by files of the same user.
 */
#ifndef PROFILE_KEPT_H
#define PROFILE_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/* At most so many, and a quarter of the descriptors that we may have. A user other than root and
 * ourselves has an eighth, all of them together a half. */
#define KEPT_FILES_MAX     256
#define KEPT_ROOTS_MAX     64
#define KEPT_PROCESSES_MAX 4096

struct profile_mapping;
struct kept;

/* With one user; NULL without memory. */
struct kept *kept_create(void);
struct kept *kept_share(struct kept *kept);
/* Takes NULL. The last user's descriptors are closed. */
void kept_release(struct kept *kept);
DEFINE_CLEANUP(kept_release, struct kept *)

/* A file that a process has there; the descriptor stays the caller's. `kept` may be NULL. */
void kept_add_file(struct kept *kept, uint32_t pid, const struct profile_mapping *mapping, int fd);

/*
 * Open the file of a mapping of a process, for reading; the caller closes it. Opening may hang.
 * Returns -1 if it is not kept. The file is identified by its build-id if it is trusted or this
 * process mapped it; without a build-id by path, device and inode.
 */
int kept_open_file(struct kept *kept, uint32_t pid, const struct profile_mapping *mapping);

/* A process that makes code. */
struct kept_process {
	uint32_t number; /* that it has for itself */
	uint32_t user;   /* the effective one */
	int root;        /* its root directory */
};

/* The number may have been another's. The descriptor stays the caller's. */
void kept_add_process(struct kept *kept, uint32_t pid, const struct kept_process *process);

/* False: nothing is known of it. `ret->root` becomes the caller's. */
bool kept_find_process(struct kept *kept, uint32_t pid, struct kept_process *ret);

/* The number of kept descriptors, for tests. */
size_t kept_count(struct kept *kept);

#endif
