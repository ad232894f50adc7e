/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the process table share: process_table.c has the processes as they are now,
 * process_images.c their images as they were.
 */
#ifndef PROCESS_PROCESS_TABLE_INTERNAL_H
#define PROCESS_PROCESS_TABLE_INTERNAL_H

#include "process/process_table.h"

struct process_table {
	bool only_begun;
	struct image_memory memory;
	size_t count; /* images */
	uint64_t lost;
	struct word_map by_pid; /* to the index in `processes` */
	struct {
		ARRAY(struct process_entry);
	} processes;
	bool records_changes;
	struct {
		ARRAY(uint32_t);
	} changed;                   /* process numbers, each once from `next_changed` on */
	size_t next_changed;         /* those before it were returned */
	struct address_space *fresh; /* what is being read */

	/* --- process_images.c --- */
	size_t trimmed; /* memory used when old images were forgotten the last time */
	uint32_t round; /* of process_table_put(), counted from 1 */
	struct {
		ARRAY(struct process_image *);
	} found; /* by number */
};

/* NULL: none is known. */
static inline struct process_image *process_table_latest(const struct process_table *table,
							 uint32_t pid)
{
	const struct process_entry *process = process_table_find(table, pid);

	return process && process->images.count ? process->images.items[process->images.count - 1]
						: NULL;
}

/* --- process_images.c --- */

/* When ended processes take half of the memory, forget the oldest of them, so that later processes
 * find room. */
void process_table_trim(struct process_table *table);

void process_table_destroy_image(struct process_table *table, struct process_image *image);

#endif
