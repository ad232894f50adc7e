/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the offsets of members of a C structure in debug information (DWARF).
 */
#ifndef ELF_STRUCT_FIELDS_H
#define ELF_STRUCT_FIELDS_H

#include "elf/image.h"

struct struct_fields {
	const char *structure;      /* "tsd_s" */
	const char *const *members; /* their names */
	size_t count;               /* at most 8 */
};

/* The answer of debug information. */
enum struct_fields_answer {
	FIELDS_NONE,    /* there is no such structure with all the members, or no information */
	FIELDS_ONE,     /* wherever the structure is, it is the same */
	FIELDS_SEVERAL, /* there are two or more different ones */
	FIELDS_REFUSED, /* to look would cost too much, or the form is not a compiler's */
};

/*
 * Look through all compilation units in C for the structure, and write the offsets of the members,
 * in bytes, to `ret`, for FIELDS_ONE only.
 *
 * The file may be hostile: see dwarf_file.h. This takes at most some seconds, and some hundred
 * megabytes.
 */
enum struct_fields_answer struct_fields_find(struct image *image,
					     const struct struct_fields *wanted, uint64_t *ret);

#endif
