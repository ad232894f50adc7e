/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables of what a process has mapped, in plain memory: the walker that is tested, without
 * the loader that programs in the kernel have. Where a file is in memory is found here anew, by its
 * segments.
 *
 *	struct tables *tables = tables_create();
 *	struct space space = { 0 };
 *	if (space_update(tables, pid, &space))
 *		user_unwind(tables->store, &space.process, ...);
 */
#ifndef TESTS_UNWINDING_SPACE_H
#define TESTS_UNWINDING_SPACE_H

#include <sys/types.h>

#include "unwind/store.h"

struct tables {
	struct unwind_store *store;
	struct {
		ARRAY(struct table_file);
	} files; /* each of them once, as long as we run */
	size_t refused, overlapping;
};

struct tables *tables_create(void);

struct space {
	struct unwind_process process;
	struct {
		ARRAY(struct unwind_mapping);
	} mappings;
	char *seen; /* lines of /proc/PID/maps that it was made of */
	bool has_made_code;
	/* Something of a file was mapped, or unmapped: who knows files only has to look again. */
	bool files_changed;
	uint64_t files; /* a sum of what is mapped of files */
};

enum space_answer { SPACE_GONE, SPACE_SAME, SPACE_NEW };

enum space_answer space_update(struct tables *tables, pid_t pid, struct space *space);

/* NULL: nothing that may be executed is there. */
const struct unwind_mapping *space_find(const struct space *space, uint64_t address);

void space_deinit(struct tables *tables, struct space *space);

#endif
