/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of a process, as it is now.
 */
#ifndef PROCESS_PROCESS_MEMORY_H
#define PROCESS_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Read `size` bytes at an address, or fewer: up to the first that cannot be read. Returns how many.
 * It is a call that may hang (base/guard.h): guard_about() comes before. */
size_t process_memory_read(uint32_t pid, uint64_t address, void *into, size_t size);

#endif
