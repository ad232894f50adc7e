/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files with code of Go: its runtime moves stacks while they are in use, and reads the return
 * addresses on them (copystack() and the unwinder in Go's src/runtime/stack.go, traceback.go).
 *
 * A file counts as one when any of these marks is there: a section that Go's linker writes, its
 * note with the build-id, or build information (Go's src/debug/buildinfo/buildinfo.go) in a
 * writable segment. So it is found stripped, without section headers, position-independent, linked
 * with C, and as a library too.
 */
#ifndef ELF_GO_BUILD_H
#define ELF_GO_BUILD_H

#include "elf/elf.h"

struct go_build {
	bool is_go;
	/* "go1.19.8" is 1 and 19; 0: the file does not say. */
	uint32_t major, minor;
};

/* Reads at most GO_BUILD_SCAN_MAX bytes of each writable segment, where no other mark is there. */
#define GO_BUILD_SCAN_MAX ((uint64_t)64 << 20)

void go_build_find(const struct elf *elf, struct go_build *ret);

/* The addresses of what Go's compiler and assembler made, in which no code of C is. False: the file
 * has no symbols that tell. */
bool go_build_code(const struct elf *elf, uint64_t *ret_start, uint64_t *ret_end);

#endif
