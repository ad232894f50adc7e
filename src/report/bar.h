/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Horizontal bars in text, and the labels beside them.
 */
#ifndef REPORT_BAR_H
#define REPORT_BAR_H

#include <stdbool.h>
#include <stdio.h>

/* A bar of `share` (0 to 1) of `width` columns, to an eighth of a column where there are such
 * characters. What is there at all is seen. */
void bar_print(FILE *out, double share, unsigned width, bool utf8);

/* The text at the right of so many columns. */
void bar_label(FILE *out, const char *text, int columns);

#endif
