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

/* The size of the terminal on standard output; 0: it is not a terminal, or its size is unknown. */
struct winsize terminal_size(void);

/* NO_COLOR is not set; and standard output is a terminal, too. */
bool terminal_allows_colour(void);
bool terminal_wants_colour(void);

/* The locale's characters are UTF-8. Sets the locale of characters from the environment. */
bool terminal_is_utf8(void);

#endif
