/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Find the file of a mapping: in its process, while it lives; on this host; or in a copied tree. A
 * path alone proves nothing, since another file may have replaced it, or may have that path in this
 * mount namespace. A file is accepted if it has the build-id of the mapping or, if that is unknown,
 * its device and inode.
 */
#ifndef PROFILE_ORIGIN_H
#define PROFILE_ORIGIN_H

#include "profile/symbolise.h"

struct kept;

struct origin {
	int fd;      /* of the file */
	int process; /* the root of its process, or -1: for its debug file */
	int symfs;   /* not owned; -1: none */
};

/* A file that `mapping` of `image` is of. One that is kept (profile/kept.h; may be NULL), unless
 * the process shows it itself. One on this host that is known by its inode must not have changed
 * since the profile ended, in ns since 1970; 0: unknown. False: none is found. */
bool origin_open(const struct symbolise_options *options, int symfs, uint64_t ended_unix_ns,
		 struct kept *kept, const struct profile_image *image,
		 const struct profile_mapping *mapping, struct origin *ret);
void origin_close(struct origin *origin);

/* For debug_file_open: opens a path in the root of the process, in the copied tree, or on this
 * host. Outside of the tree, the file must be trusted (below), or belong to the owner of an
 * untrusted program. `context` is the struct origin. */
int origin_open_debug(void *context, const char *path);

/*
 * Any user can copy the build-id of another file into a file. So a build-id identifies a file only
 * if no user but root and this one can have written it (file_is_trusted()).
 */
bool origin_is_trusted_file(int fd);

/* Identifies a file that a process has mapped. */
struct origin_identity {
	bool is_trusted;
	uint64_t inode, device; /* as stat(2) has them; 0: unknown */
};

/* The identity of the file now mapped there; all zero if it is unknown. Waits for no file system.
 */
struct origin_identity origin_ask(uint32_t pid, const struct profile_mapping *mapping);

/* The same of a file that is kept of the process. */
struct origin_identity origin_ask_kept(struct kept *kept, uint32_t pid,
				       const struct profile_mapping *mapping);

/* The same of the file that has its path on this host, as far as that has been looked up before: a
 * process has ended, or was on another host. */
struct origin_identity origin_ask_here(const struct profile_mapping *mapping);

/* May an open file name what this one is, if the build-ids are the same? */
bool origin_may_name(const struct origin_identity *identity, int fd);

/* The path without " (deleted)" behind it. */
struct text origin_path(const struct profile_mapping *mapping);

/* Is it the mapping's, which is known? The kernel keeps 20 bytes, and zeros behind shorter ones. */
bool origin_has_build_id(const struct profile_mapping *mapping, struct text id);

/* Is it a file that may have symbols? Of those without a path (memfd_create(2)), what is no ELF
 * file has no build-id. */
bool origin_is_file(const struct profile_mapping *mapping);

/*
 * Open the file in which a process lists its compiled functions (elf/perf_map.h), and set its name;
 * -1: there is none. Since any user may write to /tmp, the file must belong to the user of the
 * process, or to root and be readable by all, and neither be a symbolic link nor have hard links.
 * For an ended process, the file must not have been written since. `path` has room for 64 bytes.
 */
int origin_open_perf_map(const struct profile_image *image, struct kept *kept, char *path);

/* Keep what that needs of a process when it has ended. It makes calls that may hang. */
void origin_keep_process(struct kept *kept, uint32_t pid);

#endif
