/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncurses, without its macros: they have names such as `move` and `clear`.
 */
#ifndef TUI_CURSES_H
#define TUI_CURSES_H

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1

#include <curses.h>

#endif
