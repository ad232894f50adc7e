/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A walk on this side of the kernel, over the memory of a process or a copy of its stack: the
 * walker of unwind/walk.h with a store.
 *
 *	struct unwind_reader reader = { .word = read_word, .context = &stack };
 *	size_t count = user_unwind(store, &process, &registers, &reader, frames, most, &stop);
 */
#ifndef UNWIND_USER_UNWIND_H
#define UNWIND_USER_UNWIND_H

#include <stdbool.h>

#include "unwind/store.h"

#define UNWIND_REGISTERS (UNWIND_NUMBERS + 1) /* the last is unused */

struct unwind_registers {
	uint64_t ip, sp, bp, bx;
	uint64_t others[UNWIND_REGISTERS];
	bool has_others;
};

struct unwind_reader {
	bool (*word)(void *context, uint64_t address, uint64_t *ret);
	void *context;
	bool only_tables; /* never by frame pointers */
};

/* Addresses of frames, innermost first, at most `most` > 0 of them; how many, and why there are no
 * more. */
size_t user_unwind(const struct unwind_store *store, const struct unwind_process *process,
		   const struct unwind_registers *registers, const struct unwind_reader *reader,
		   uint64_t *frames, size_t most, enum unwind_stop *ret_stop);

#endif
