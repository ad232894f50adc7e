/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps source lines to code: reads the tables of .debug_line (DWARF 2 to 5, 6.2) sequentially,
 * without memory for their rows and without .debug_info.
 *
 * The bytes may be hostile: each is read once, and none outside of the section.
 */
#ifndef ELF_LINE_TABLE_H
#define ELF_LINE_TABLE_H

#include "base/text.h"

struct line_sections {
	struct text lines;                 /* .debug_line, inflated */
	struct text line_strings, strings; /* .debug_line_str, .debug_str; may be empty */
};

/* A row that begins a statement, in a file that was asked for. False ends it. */
typedef bool line_visit(void *context, uint64_t address, uint32_t line);

/*
 * Show the rows of all files of that name, of which the last parts of the path are enough
 * ("server.c", "shop/server.c"); the directory that a compiler ran in is not known. Only the first
 * row of several with one line behind each other. What is broken is passed over.
 */
void line_table_find(const struct line_sections *sections, struct text source, line_visit *visit,
		     void *context);

#endif
