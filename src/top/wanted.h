/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads that the options of an engine select, by `pids` and `tids`.
 */
#ifndef TOP_WANTED_H
#define TOP_WANTED_H

#include "os/tasks.h"
#include "top/engine.h"

struct wanted {
	struct tids pids, tids; /* sorted */
};

/* False without memory; there is something to deinit all the same. */
bool wanted_init(struct wanted *wanted, const struct engine_options *options);

/* Without any target, everything is wanted. */
bool wanted_is_all(const struct wanted *wanted);
bool wanted_has(const struct wanted *wanted, uint32_t tid, uint32_t tgid);

/* Leaves in a reading what is wanted; `cgroup`: and in it or below, NULL: wherever. */
void wanted_keep(const struct wanted *wanted, const char *cgroup, struct state_reading *reading);

void wanted_deinit(struct wanted *wanted);

#endif
