/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the code of a function of the kernel is. A thread whose stack passes through it waits
 * within it: in do_swap_page() (mm/memory.c) for anonymous memory to come back from swap, in
 * fifo_open() (fs/pipe.c) for the other end to be opened.
 */
#ifndef SCHED_KERNEL_CODE_H
#define SCHED_KERNEL_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* As a file like /proc/kallsyms has it; it ends where the next symbol begins. False: its address is
 * not to be seen (kernel.kptr_restrict), or there is no such function. */
bool kernel_code_find(const char *kallsyms, const char *function, uint64_t *ret_begin,
		      uint64_t *ret_end);

#endif
