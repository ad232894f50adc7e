/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/kallsyms: the functions of the kernel, its modules and its BPF programs, a line
 * "ADDRESS TYPE name [module]" each (s_show() in kernel/kallsyms.c). Without the privilege to see
 * addresses (kernel.kptr_restrict), they are zero.
 *
 *	struct kallsyms *symbols;
 *	err = kallsyms_read("/proc/kallsyms", &symbols);
 *	...
 *	if (kallsyms_find(symbols, address, &symbol))
 *		show(symbol.name, symbol.module, address - symbol.address);
 *	kallsyms_destroy(symbols);
 */
#ifndef ELF_KALLSYMS_H
#define ELF_KALLSYMS_H

#include "base/error.h"
#include "base/text.h"

struct kallsym {
	uint64_t address;
	char type;                /* as nm(1) has them: of code, 't', 'T', 'w', 'W' */
	struct text name, module; /* the module is empty for the kernel itself */
};

/* Parse a line. False if it is invalid. */
bool kallsym_parse(struct text line, struct kallsym *ret);

/* More functions, or bytes of their names, are an error. */
#define KALLSYMS_MAX       ((size_t)8 << 20)
#define KALLSYMS_BYTES_MAX ((size_t)512 << 20)

struct kallsyms;

/* All code that the file has. That no address of it is to be seen is an error that says so. */
struct error *kallsyms_read(const char *path, struct kallsyms **ret) MUST_CHECK;
/* The same from bytes. */
struct error *kallsyms_parse(struct text bytes, struct kallsyms **ret) MUST_CHECK;
/* Takes NULL. */
void kallsyms_destroy(struct kallsyms *symbols);
DEFINE_CLEANUP(kallsyms_destroy, struct kallsyms *)

/*
 * The function that `address` is in: the last one that starts there or before, for the file has no
 * sizes. Names live as long as the symbols. False: there is none, or it starts so far away that it
 * must have ended.
 */
bool kallsyms_find(const struct kallsyms *symbols, uint64_t address, struct kallsym *ret);

/* The code of the first function of this name, up to where the next one begins. False: there is
 * none. It looks at each name: for few functions. */
bool kallsyms_code_of(const struct kallsyms *symbols, struct text name, uint64_t *ret_begin,
		      uint64_t *ret_end);

/* The start of the kernel's code, which changes at each boot. 0: unknown. */
uint64_t kallsyms_start(const struct kallsyms *symbols);

/* Is it in code that waits on behalf of its callers: schedule(), and what around it is marked so?
 * The kernel leaves that out of stacks of others that sleep (in_sched_functions()). */
bool kallsyms_is_scheduler(const struct kallsyms *symbols, uint64_t address);

#endif
