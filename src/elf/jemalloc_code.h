/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds jemalloc's counters by its data and machine code, in files without symbols.
 *
 * The table of names that mallctl(3) knows (`thread_node` in jemalloc's src/ctl.c) is an array of
 *
 *	struct { bool named; const char *name; size_t nchildren; const void *children;
 *		 int (*ctl)(tsd_t *tsd, ...); }
 *
 * with "allocated", "allocatedp", "deallocated", "deallocatedp" in this order, which is unique. The
 * names do not depend on the prefix of jemalloc's functions. The function of a name with "p" gets
 * `tsd` as its first argument and returns the address of a field, so it has one instruction that
 * adds to that register.
 */
#ifndef ELF_JEMALLOC_CODE_H
#define ELF_JEMALLOC_CODE_H

#include "elf/jemalloc.h"

/* The functions behind the four names, as addresses of the file; those with "p" are the second and
 * the fourth. */
struct jemalloc_handlers {
	uint64_t functions[4];
};

/* The number of such tables in the file, 2 for more; and the functions of the last one. */
unsigned jemalloc_find_table(const struct elf *elf, struct jemalloc_handlers *ret);

/* JEMALLOC_FOUND, and the two offsets into `ret`; or why not. */
enum jemalloc_refusal jemalloc_read_handlers(const struct elf *elf,
					     const struct jemalloc_handlers *handlers,
					     struct jemalloc_layout *ret) MUST_CHECK;

/*
 * Find the block by the code of x86_64 that counts.
 *
 * malloc(3) adds to its counter by an instruction with %fs, the thread pointer, whose displacement
 * is `allocated`, and whose register was loaded shortly before: with a constant, in programs, or
 * from a word in the GOT, in libraries. The answer is the common one of all such instructions.
 * NO_BLOCK if there are none, TWO_ANSWERS if they differ.
 */
enum jemalloc_refusal jemalloc_read_accesses(const struct elf *elf,
					     struct jemalloc_layout *ret) MUST_CHECK;

#endif
