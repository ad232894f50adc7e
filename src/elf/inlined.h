/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the functions that are inlined at an address, and the source lines, in debug information
 * (DWARF).
 *
 *	uint64_t work = INLINED_WORK_MAX;
 *	struct inlined *inlined;
 *	if (inlined_open(&image, NULL, &work, &inlined)) {
 *		struct inlined_stack stack;
 *		inlined_find(inlined, address, &stack);
 *		...
 *		inlined_destroy(inlined);
 *	}
 *
 * The file may be hostile: see dwarf_file.h. `work` is its budget, which several files can share;
 * when it is used up, nothing more is found. References to another file (dwz, split DWARF, type
 * units) are not followed: such functions are left out.
 *
 * Look up addresses in ascending order: the data of a function is cached until the next one.
 */
#ifndef ELF_INLINED_H
#define ELF_INLINED_H

#include "elf/dwarf_part.h"

/* Bytes of debug information that are walked over, each as often as it is, and more where entries
 * have attributes without room in it: some seconds. All functions of libc take a hundredth. */
#define INLINED_WORK_MAX ((uint64_t)1 << 32)

/* The most inlined functions of one address; inner ones beyond it are omitted. */
#define INLINED_MAX 32

/* Strings live as long as the struct inlined, and may be of any bytes. */
struct inlined_function {
	const char *name;   /* as a symbol has it, where it is known so */
	const char *source; /* of what is executed in it; NULL: unknown */
	uint32_t line;      /* 0: unknown */
};

struct inlined_stack {
	/* The first is the function that has the others in it, the last the innermost. */
	struct inlined_function functions[1 + INLINED_MAX];
	size_t count; /* 0: nothing is known about the address */
};

struct inlined;

/* False: it has no debug information, or such that is refused, or there is no memory. `work` must
 * live as long. The image may be closed. Only `addresses`, and those behind each, may be looked up
 * then; NULL: any. */
bool inlined_open(struct image *image, const struct dwarf_addresses *addresses, uint64_t *work,
		  struct inlined **ret);
/* The memory that it has by now, roughly: libdw says nothing of its own. SIZE_MAX: something was
 * not found for lack of work or memory, so that it should be opened anew. */
size_t inlined_bytes(const struct inlined *inlined);

/* Go on with another budget. */
void inlined_resume(struct inlined *inlined, uint64_t *work);

/* Takes NULL. */
void inlined_destroy(struct inlined *inlined);

/* An address of the file, as segments have it. */
void inlined_find(struct inlined *inlined, uint64_t address, struct inlined_stack *ret);

#endif
