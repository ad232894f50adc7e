/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each key does: a row each, of which the help is made.
 */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include "tui/tui.h"

enum key_section { KEYS_ROWS, KEYS_LOOK, KEYS_MOVE, KEYS_REPLAY, KEYS_LEAVE, KEY_SECTIONS };
extern const char *const key_section_heads[KEY_SECTIONS];

#define KEY_CODES_MAX 4

struct key_row {
	unsigned modes; /* in which it is a key: bits of enum tui_mode */
	enum key_section section;
	int codes[KEY_CODES_MAX]; /* of ncurses, or ASCII */
	const char *label;        /* how it is written in the help; NULL: not there */
	const char *hint;         /* in a word or two, for the last line; NULL: not there */
	const char *prose;
	struct error *(*act)(struct tui *tui, int argument);
	int argument;
	bool in_replay_only;
};
extern const struct key_row key_rows[];
extern const size_t key_row_count;

#endif
