/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal that standard output is: its size, what it and its user can read, and what the user
 * wants there. What is piped is the same everywhere: whole cells, no colours, no pager.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "base/error.h"

/* The options of commands that print reports: CHOICE(name, argument, parser, help, values). The
 * choices are kept here. */
#define TERMINAL_CHOICES(CHOICE)                                                                   \
	CHOICE("wide", NULL, parse_wide,                                                           \
	       "On a terminal, print cells of tables whole. By default, long names are shortened " \
	       "in the middle, so that rows fit the width.",                                       \
	       NULL)                                                                               \
	CHOICE("color", "WHEN", parse_colour,                                                      \
	       "Use colours: auto is on a terminal, unless NO_COLOR is set.", colour_name)         \
	CHOICE("no-pager", NULL, parse_no_pager,                                                   \
	       "Print directly. By default, a report on a terminal goes through $CTPROF_PAGER, "   \
	       "$PAGER, or less -FRX.",                                                            \
	       NULL)
#define TERMINAL_ROW(name, argument, parse, help, values) \
	{ name, 0, argument, parse, 0, help, values, false },
/* The rows, each with a comma behind it. */
#define TERMINAL_OPTIONS TERMINAL_CHOICES(TERMINAL_ROW)

struct error *parse_wide(const char *argument, void *at);
struct error *parse_colour(const char *argument, void *at);
struct error *parse_no_pager(const char *argument, void *at);
const char *colour_name(size_t number);

/* Standard output is a terminal, or a pager on one (cli/pager.h). */
bool terminal_is_output(void);

/* It is, and can move its cursor, and --no-pager was not given. */
bool terminal_wants_pager(void);

/* --wide was given. */
bool terminal_is_wide(void);

/* Columns of the terminal; what the environment says comes first, as in ls(1). */
size_t terminal_width(void);

/* The same for cells to be cut to it; 0: they are not. */
size_t terminal_table_width(void);

/* The size of the terminal on standard output; 0: it is not a terminal, or its size is unknown. */
struct winsize terminal_size(void);

/* Make the functions above keep describing the present standard output after it is replaced by a
 * pipe to the pager. */
void terminal_remember(void);

/* --color is not never, and NO_COLOR is not set. */
bool terminal_allows_colour(void);
/* And standard output is a terminal, too. */
bool terminal_wants_colour(void);

/* The locale's characters are UTF-8. Sets the locale of characters from the environment. */
bool terminal_is_utf8(void);

#endif
