/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of a process as a walk reads it (struct unwind_reader): some KiB at once, since a walk
 * reads neighbouring words and each read of another process is a system call.
 *
 *	struct unwind_window window = { .read = read_process, .context = &pid };
 *	struct unwind_reader reader = { .word = unwind_window_word, .context = &window };
 *
 * Addresses come from registers and from the stack of the process, so a word may be asked for at
 * any address.
 */
#ifndef UNWIND_WINDOW_H
#define UNWIND_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_WINDOW_BYTES 4096

struct unwind_window {
	/* Copies up to `size` bytes from `address` on; returns how many it copied, and 0 where none
	 * can be read. The whole range is below USER_SPACE_LIMIT. */
	size_t (*read)(void *context, uint64_t address, void *into, size_t size);
	void *context;
	uint64_t start; /* address of the first byte in `memory` */
	size_t bytes;   /* that are there; 0: none */
	unsigned char memory[UNWIND_WINDOW_BYTES];
};

/* The word at an address of the process, which need not be aligned; `context` is the window. False:
 * no such address can be read. */
bool unwind_window_word(void *context, uint64_t address, uint64_t *ret);

#endif
