/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the code range of a kernel function. A thread with this function in its stack waits in it:
 * in do_swap_page() (mm/memory.c) for anonymous memory from swap, in fifo_open() (fs/pipe.c) for
 * the other end to be opened.
 */
#ifndef SCHED_KERNEL_CODE_H
#define SCHED_KERNEL_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Find the range in a file like /proc/kallsyms; it ends at the next symbol. False: addresses are
 * hidden (kernel.kptr_restrict), or there is no such function. */
bool kernel_code_find(const char *kallsyms, const char *function, uint64_t *ret_begin,
		      uint64_t *ret_end);

#endif
