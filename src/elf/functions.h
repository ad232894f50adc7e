/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of an ELF file by address, from as many tables of symbols as there are: its own,
 * those of its debug file, those packed into it (MiniDebugInfo).
 *
 *	struct functions functions = { 0 };
 *	if (!functions_add(&functions, &elf) || !functions_add(&functions, &debug_elf))
 *		return &error_no_memory;
 *	functions_sort(&functions);
 *	function = functions_find(&functions, address);
 *
 * Names are read when they are asked for: a library has ten thousand, of which a profile shows
 * twenty. The images of the files must be open until then.
 */
#ifndef ELF_FUNCTIONS_H
#define ELF_FUNCTIONS_H

#include "base/array.h"
#include "elf/demangle.h"
#include "elf/elf.h"

/* The most functions of a table; the rest is omitted. */
#define FUNCTIONS_MAX        ((uint64_t)4 << 20)
#define FUNCTIONS_TABLES_MAX 8

struct function {
	uint64_t start, end; /* addresses of the file; the end is the first one beyond */
	uint64_t name;       /* where it is in the image of its table */
	uint32_t around;     /* the function that this one is inside of, or UINT32_MAX */
	uint8_t table, rank; /* of several at one address the one of the highest rank is taken */
	bool is_sized, is_plt;
};

struct functions {
	ARRAY(struct function);
	struct image *tables[FUNCTIONS_TABLES_MAX];
	uint8_t table_count;
	size_t most;     /* functions that there may be; 0: no limit */
	bool has_static; /* a table with functions that no other file may call */
};

/* How many fit into so much memory until they are sorted, for `most`: qsort(3) sorts in a copy. */
#define FUNCTIONS_IN(bytes) ((size_t)((bytes) / (2 * sizeof(struct function))))

/* Add the functions of .symtab and .dynsym. False without memory, or beyond `most`. */
bool functions_add(struct functions *functions, const struct elf *elf);

/* A function that no table of symbols has, or (`is_plt`) a stub that calls one of another file; its
 * name is at `name` of the image. False without memory, or beyond `most`. */
bool functions_add_named(struct functions *functions, struct image *image, uint64_t start,
			 uint64_t end, uint64_t name, bool is_plt);

/* After all were added, once. */
void functions_sort(struct functions *functions);

/* NULL: no symbol has this address. Nothing is guessed from the last one before it. */
const struct function *functions_find(const struct functions *functions, uint64_t address);

/* The displayed name and its length; 0 if the name can no longer be read. */
size_t function_name(const struct functions *functions, const struct function *function,
		     char ret[FUNCTION_NAME_MAX]);

void functions_deinit(struct functions *functions);

#endif
