/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For targets that read one section: an ELF file is made around any bytes, so that what is fuzzed
 * is the section and not whether there is one.
 */
#ifndef TESTS_ELF_FUZZ_H
#define TESTS_ELF_FUZZ_H

#include <elf.h>

#include "fuzz.h"

struct fuzz_section {
	const char *name;
	uint32_t type;
	struct text bytes;
};

#define FUZZ_SECTIONS_MAX 8

/* A program of x86_64 with these sections and one segment, in which all of it is code at the
 * address 0. To be released. */
struct text fuzz_make_elf(const struct fuzz_section *sections, size_t count);

/* Put the checksum in .gnu_debuglink of a program right, where it has one: it is no defence. */
void fuzz_mend_link(struct text program, struct text debug);

#endif
