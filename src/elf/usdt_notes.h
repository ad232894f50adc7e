/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracepoints of a program or library ("USDT"): a note each in .note.stapsdt, as <sys/sdt.h> of
 * SystemTap writes it (its wiki, "UserSpaceProbeImplementation").
 */
#ifndef ELF_USDT_NOTES_H
#define ELF_USDT_NOTES_H

#include "elf/elf.h"

struct usdt_note {
	const char *provider, *name;
	struct text arguments; /* where they are (usdt_argument.h); may be empty */
	uint64_t address;      /* of the file, of a nop */
	uint64_t semaphore;    /* address of the semaphore; 0: there is none */
};

/* Called for each note; a probe with several locations has several. Strings live as long as the
 * image. Returning false ends the search. */
typedef bool usdt_visit(void *context, const struct usdt_note *note);
void usdt_each(const struct elf *elf, usdt_visit *visit, void *context);

#endif
