/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot in which everything has a value of its own, and whether another is the same: what a
 * writer forgets or a parser mixes up shows.
 */
#ifndef UNIT_FULL_SNAPSHOT_H
#define UNIT_FULL_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "snapshot/model.h"

/* Other seeds, other values. Of as many threads, three to a process. The caller destroys it. */
struct ctprof_snapshot *full_snapshot(uint64_t seed, size_t threads);

/* b, as it was read back, has all of a full snapshot, and no remarks. */
void expect_same_snapshot(const struct ctprof_snapshot *a, const struct ctprof_snapshot *b);

/* Ids, names and every metric, and whether it was measured. */
void expect_same_thread(const struct ctprof_thread *a, const struct ctprof_thread *b);

#endif
