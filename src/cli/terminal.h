/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal that standard output is: its size, and what it and its user can read.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>

/* Columns of the terminal; what the environment says comes first, as in ls(1). */
size_t terminal_width(void);

/* The lines and columns of the terminal that standard output is; 0: it is none, or does not say. */
struct winsize terminal_size(void);

/* NO_COLOR is not set; and standard output is a terminal, too. */
bool terminal_allows_colour(void);
bool terminal_wants_colour(void);

/* The locale's characters are UTF-8. Sets the locale of characters from the environment. */
bool terminal_is_utf8(void);

#endif
