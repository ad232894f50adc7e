/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fits texts and numbers into columns of a terminal.
 *
 * Names are untrusted: characters that are not printable, or would change the cursor, the direction
 * of the line or later columns, are removed. Widths are those of the locale, as in the terminal.
 */
#ifndef TUI_FIT_H
#define TUI_FIT_H

#include <stdbool.h>

#include "base/text.h"

/* The most bytes that so many columns take. */
#define FIT_ROOM(width) ((width)*4 + 8)

enum fit_end {
	FIT_START, /* what does not fit is left out at the end */
	FIT_TAIL,  /* at the start: the end of a path says more */
};

/* Fit `text` into `width` columns, with a mark where something is left out. `out` has room for
 * FIT_ROOM(width). Returns the number of columns. */
unsigned fit_text(struct text text, unsigned width, enum fit_end end, bool utf8, char *out);

#define FIT_NUMBER_MAX 16

/* Five columns: "12.3", "100.0", "0.0", "12345". */
char *fit_percent(char buffer[FIT_NUMBER_MAX], double share);

/* A number of threads, on average: "0.98", "12.3", "1003", with one decimal less below 10 if it is
 * not `fine`. */
char *fit_average(char buffer[FIT_NUMBER_MAX], double average, bool fine);

/* A length of time in five columns: "12us", "340ms", "12.3s", "59m12", "23h59", "12d3h". */
char *fit_duration(char buffer[FIT_NUMBER_MAX], uint64_t ns);

/* An amount in five columns: "0", "812", "1.2K", "34M", "5.6G". */
char *fit_bytes(char buffer[FIT_NUMBER_MAX], uint64_t bytes);

/* A rate in five columns: "0.3", "12", "12345", "123k", "12M". */
char *fit_rate(char buffer[FIT_NUMBER_MAX], double rate);

#endif
