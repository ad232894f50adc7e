/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of C++ and Rust functions as people write them, by libiberty: without parameters, which
 * make a flame graph unreadable.
 */
#ifndef ELF_DEMANGLE_H
#define ELF_DEMANGLE_H

#include <stddef.h>

/* Longer names are cut, and end with "..."; the zero behind them is counted. */
#define FUNCTION_NAME_MAX 1024

/* Longer names are not demangled. */
#define MANGLED_NAME_MAX 4096

/*
 * Write the name to show for a symbol's to `ret`, and return its length. What is no mangled name
 * stays as it is; control characters become '?'. The name may be hostile: what one of them would
 * become is cut while it is made.
 */
size_t demangle(const char *symbol, char ret[FUNCTION_NAME_MAX]);

#endif
