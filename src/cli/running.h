/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is what a snapshot shows still there? A command on a process of it makes sense only on the host
 * that it was captured on, in the same boot, and as long as the process lives.
 */
#ifndef CLI_RUNNING_H
#define CLI_RUNNING_H

#include "compare/sides.h"

/* Does process `pid` of the snapshot run on this host? Another process that got its number does not
 * count. With pid 0: is the snapshot of this boot of this host? A file without a boot ID or a start
 * time is of no host. */
bool snapshot_process_runs(const struct ctprof_snapshot *snapshot, uint32_t pid);

#endif
