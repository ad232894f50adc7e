/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text that is safe on a terminal, and how wide it is there.
 *
 * Names are chosen by others: control characters are shown as \xNN, characters that turn or break
 * lines as \u{NNNN}, and bytes that are not UTF-8 as U+FFFD. Widths are those of a terminal: wide
 * characters take two columns, combining ones none.
 */
#ifndef REPORT_VISIBLE_H
#define REPORT_VISIBLE_H

#include <stdio.h>

#include "base/text.h"

/* Text that is safe on a terminal, allocated; NULL without memory. */
char *text_visible(struct text text);

/* Print it, at least `columns` wide as printf(3) counts them (negative: at the left). Prints "?"
 * without memory. */
void text_print_visible(FILE *out, struct text text, int columns);

/* The width of a visible text in columns of a terminal. */
size_t text_width(const char *text);

/* The bytes at the start of a visible text that fit into `width` columns: at least one character.
 */
size_t text_fitting(const char *text, size_t length, size_t width);

/* A visible text shortened to `width` columns, at least 3: begin and end, and an ellipsis between
 * them, since names differ at both. Allocated, as a whole where it fits; NULL without memory. */
char *text_shortened(const char *text, size_t width);

/* The character that stands for what is left out, or dots where the locale has none. */
const char *text_ellipsis(void);

#endif
