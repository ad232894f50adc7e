/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles that stand beside snapshots: FILE.profile.raw beside FILE.
 */
#ifndef CMD_PROFILE_BESIDE_H
#define CMD_PROFILE_BESIDE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* All time of these processes (all: no `pids`) for so long, into the file beside `snapshot`. An
 * interrupt ends it early, and keeps what there is. */
struct error *profile_beside(const char *snapshot, const uint32_t *pids, size_t pid_count,
			     const char *cgroup, uint64_t duration_ns) MUST_CHECK;

/* Have both snapshots one? Says how they are compared, on standard error. */
void profile_beside_hint(const char *baseline, const char *candidate);

/* The differential flame graph of the two, as the end of `path` says. */
struct error *profile_beside_diff(const char *baseline, const char *candidate,
				  const char *path) MUST_CHECK;

#endif
