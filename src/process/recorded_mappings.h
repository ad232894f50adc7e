/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User space's half of process/mapping_record.h: gives the program in the kernel slots and the
 * files whose tables are there, and takes slots back.
 *
 *	err = recorded_mappings_create(&options, &recorded);
 *	if (recorded_mappings_has(recorded, &entry))     the program has recorded this process
 *		...
 *	recorded_mappings_give_back(recorded, slot, now);
 *	recorded_mappings_tick(recorded, processes, now);
 *	...
 *	recorded_mappings_destroy(recorded);
 *
 * A file is known by what the kernel's inode says of it, and taken only from a mapping for which
 * /proc/PID/map_files says the same: on a file system that shows other numbers (btrfs, overlayfs),
 * processes are left to user space.
 *
 * A known file keeps its table. When room is short all files are forgotten: the epoch ends, after
 * which no walk begins with what was recorded in it, and some time later their tables are released.
 */
#ifndef PROCESS_RECORDED_MAPPINGS_H
#define PROCESS_RECORDED_MAPPINGS_H

#include "base/clock.h"
#include "process/mapping_record.h"
#include "process/process_table.h"
#include "process/unwind_table_cache.h"

struct recorded_mappings;

/* Descriptors of the maps `mapping_slots`, `known_files` and `mapping_requests`, and the variable
 * that user space and the program share. Not owned. */
struct recorded_mappings_options {
	int slots, files, requests;
	struct mapping_recording *recording;
	struct unwind_store *store;
	struct unwind_table_cache *tables;
};

struct error *recorded_mappings_create(const struct recorded_mappings_options *options,
				       struct recorded_mappings **ret) MUST_CHECK;

/* Does this entry of the map of processes have what the process has mapped? */
bool recorded_mappings_has(const struct recorded_mappings *recorded,
			   const struct unwind_process *entry);

/* How long what was recorded of a process can be walked through after its end. */
#define RECORDED_KEPT_NS (NS_PER_S / 2)

/* Take the slot of an entry that is not in the map any more. It is used again after
 * RECORDED_KEPT_NS: another CPU may still walk a stack by it. */
void recorded_mappings_give_back(struct recorded_mappings *recorded, uint32_t slot,
				 uint64_t now_ns);

/* Make the part of a file known that a mapping shows, if its table is there. Takes NULL. */
void recorded_mappings_learn(struct recorded_mappings *recorded,
			     const struct profile_mapping *mapping, struct cached_table *table);

/* Do requests wait for tables, or is it time to give a slot back? Takes NULL. */
bool recorded_mappings_has_work(const struct recorded_mappings *recorded, uint64_t now_ns);

/* Answer the requests of the program. Never waits for a table. */
void recorded_mappings_tick(struct recorded_mappings *recorded,
			    const struct process_table *processes, uint64_t now_ns);

/* Takes NULL. Nothing is recorded any more. */
void recorded_mappings_destroy(struct recorded_mappings *recorded);
DEFINE_CLEANUP(recorded_mappings_destroy, struct recorded_mappings *)

#endif
