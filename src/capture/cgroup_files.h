/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a cgroup's files (cgroup v2, Documentation/admin-guide/cgroup-v2.rst) into its
 * record.
 */
#ifndef CAPTURE_CGROUP_FILES_H
#define CAPTURE_CGROUP_FILES_H

#include "snapshot/model.h"

/* The files there may be, by number; NULL after the last. */
const char *cgroup_file_name(size_t number);

/* Take the bytes of file `number`. False when some value could not be understood: it stays
 * unmeasured and the rest is taken (but a map with a name twice is dropped whole). Names go into
 * the snapshot. */
bool cgroup_take_file(struct ctprof_snapshot *snapshot, size_t number, struct text bytes,
		      struct cgroup_counters *cgroup);

/* Take the bytes of a pressure file. False when they hold no line that is understood. */
bool psi_take_file(struct text bytes, struct psi_resource *ret);

#endif
