/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the executable mappings of a running process, with the build-ids of files: with
 * PROCMAP_QUERY if the kernel has it (os/map_query.h), else from /proc/<pid>/maps and from each
 * file, once for all processes.
 */
#ifndef PROCESS_MAPS_H
#define PROCESS_MAPS_H

#include "base/error.h"
#include "os/maps.h"

struct process_maps;

/* `proc_dir` is a descriptor of /proc, which must stay open and stays the caller's. */
struct error *process_maps_create(int proc_dir, struct process_maps **ret) MUST_CHECK;
/* Takes NULL. */
void process_maps_destroy(struct process_maps *maps);
DEFINE_CLEANUP(process_maps_destroy, struct process_maps *)

/* Everything that is pointed to is good until the function returns, which may end it by false. */
typedef bool process_maps_visit(void *context, const struct mapping *mapping, struct text build_id);

/* Show the executable mappings of a process, by start. Returns 0 or an errno: ENOENT or ESRCH of
 * one that is gone. */
int process_maps_read(struct process_maps *maps, uint32_t pid, process_maps_visit *visit,
		      void *context);

/* For tests: behave as without PROCMAP_QUERY. */
void process_maps_use_text(struct process_maps *maps);

#endif
