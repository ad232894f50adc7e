/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles that stand beside snapshots: FILE.profile.raw beside FILE.
 */
#ifndef CMD_PROFILE_BESIDE_H
#define CMD_PROFILE_BESIDE_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

/*
 *	struct profile_beside *beside;
 *	struct error *err = profile_beside_open(pids, pid_count, cgroup, &beside);
 *	privileges_keep(PROFILE_READ_PRIVILEGES)	and what reading processes needs
 *	profile_beside_take(beside, snapshot, duration_ns)
 *	profile_beside_close(beside);
 */
struct profile_beside;

/* Loads what watches these processes (all: no `pids`), which takes PROFILE_OPEN_PRIVILEGES. */
struct error *profile_beside_open(const uint32_t *pids, size_t pid_count, const char *cgroup,
				  struct profile_beside **ret) MUST_CHECK;

/* All their time for so long, into the file beside `snapshot`. An interrupt ends it early, and
 * keeps what there is. Once for each that is opened. */
struct error *profile_beside_take(struct profile_beside *beside, const char *snapshot,
				  uint64_t duration_ns) MUST_CHECK;

/* Takes NULL. */
void profile_beside_close(struct profile_beside *beside);
DEFINE_CLEANUP(profile_beside_close, struct profile_beside *)

/* The path of the profile that `capture --profile` wrote beside a snapshot. Allocated; NULL: none
 * can be read. */
char *profile_beside_find(const char *snapshot);

/* Have both snapshots one? Says how they are compared, on standard error. */
void profile_beside_hint(const char *baseline, const char *candidate);

/* The differential flame graph of the two, as the end of `path` says. */
struct error *profile_beside_diff(const char *baseline, const char *candidate,
				  const char *path) MUST_CHECK;

#endif
