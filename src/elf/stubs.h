/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the stubs that linkers make for calls into other files (.plt, .plt.sec and the like). No
 * symbol names them, but each jumps to the address in a word of the GOT, and a relocation names the
 * function of that word.
 */
#ifndef ELF_STUBS_H
#define ELF_STUBS_H

#include "elf/functions.h"

/* Add the stubs of x86_64 and aarch64, in the forms that linkers write; other forms are left out.
 * False without memory. */
bool stubs_add(struct functions *functions, const struct elf *elf);

#endif
