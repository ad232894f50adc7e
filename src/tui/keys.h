/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys and their actions: a row each. The help is made of them.
 */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include "tui/tui.h"

enum key_section { KEYS_ROWS, KEYS_LOOK, KEYS_MOVE, KEYS_REPLAY, KEYS_LEAVE, KEY_SECTIONS };
extern const char *const key_section_heads[KEY_SECTIONS];

/* LIVE: in a replay such a key only says why it does nothing, and is not offered. */
enum key_when { KEY_ALWAYS, KEY_IN_REPLAY, KEY_LIVE };

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
	enum key_when when;
};
extern const struct key_row key_rows[];
extern const size_t key_row_count;

/* Does the key apply to the current view, so that the help shows it? */
static inline bool key_is_offered(const struct tui *tui, const struct key_row *row)
{
	return row->when == KEY_ALWAYS || (row->when == KEY_IN_REPLAY) == tui_is_replay(tui);
}

#endif
