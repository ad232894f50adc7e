/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/<pid>/maps: one line for each mapping (proc_pid_maps(5), show_map_vma() in
 * fs/proc/task_mmu.c).
 *
 *	struct text rest = bytes;
 *	struct mapping mapping;
 *	while (maps_next(&rest, &mapping))
 *		if (mapping.inode && mapping.executable)
 *			look(mapping.path);
 *
 * The path is everything behind the fifth column: it may hold spaces, and the kernel writes a
 * newline in it as "\012". It is the path that the process sees; a file that is gone has
 * " (deleted)" behind it, and so may one that is not.
 */
#ifndef OS_MAPS_H
#define OS_MAPS_H

#include "base/text.h"

struct mapping {
	uint64_t start, end; /* addresses; the end is the first one beyond */
	uint64_t offset;     /* in the file, in bytes */
	uint32_t major, minor;
	uint64_t inode; /* 0: no file */
	bool executable, writable;
	struct text path; /* "[stack]" and the like, or "", where there is no file */
};

/* The next line that is one of a mapping; others are passed over. False at the end, with `ret`
 * untouched; the path points into `rest`. */
bool maps_next(struct text *rest, struct mapping *ret);

#endif
