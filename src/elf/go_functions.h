/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of functions of Go in files without symbols (-ldflags=-s): Go's runtime has a table of its
 * own, which stays (runtime/symtab.go, internal/abi/symtab.go, cmd/link/internal/ld/pcln.go).
 * Files of Go 1.16 and newer.
 */
#ifndef ELF_GO_FUNCTIONS_H
#define ELF_GO_FUNCTIONS_H

#include "elf/functions.h"

/* Adds nothing to a file that is not of Go. False without memory. */
bool go_functions_add(struct functions *functions, const struct elf *elf);

#endif
