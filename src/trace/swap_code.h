/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the kernel's code is that brings anonymous memory back from swap: do_swap_page()
 * (mm/memory.c). Who waits within it is paging.
 */
#ifndef TRACE_SWAP_CODE_H
#define TRACE_SWAP_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* As a file like /proc/kallsyms has it; it ends where the next symbol begins. False: its address is
 * not to be seen (kernel.kptr_restrict), or there is no such function. */
bool swap_code_find(const char *kallsyms, uint64_t *ret_begin, uint64_t *ret_end);

#endif
