/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MiniDebugInfo: a small ELF file with the names of functions, packed with xz into the section
 * .gnu_debugdata of a stripped one (gdb's manual, "Debugging information in a special section").
 */
#ifndef ELF_PACKED_SYMBOLS_H
#define ELF_PACKED_SYMBOLS_H

#include "elf/elf.h"

/* A larger one is refused, as is one that wants more memory to be unpacked. */
#define PACKED_SYMBOLS_MAX        ((size_t)128 << 20)
#define PACKED_SYMBOLS_MEMORY_MAX ((uint64_t)128 << 20)

/* The bytes, for the caller to free. False: there is none, or it is broken, or there is no memory.
 */
bool packed_symbols(const struct elf *elf, struct text *ret);

#endif
