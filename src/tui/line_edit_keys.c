/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/curses.h"
#include "tui/key_table.h"
#include "tui/line_edit.h"

static const struct {
	int key;
	enum line_edit_move move;
} moves[] = {
	{ KEY_LEFT, LINE_LEFT },
	{ KEY_CONTROL('b'), LINE_LEFT },
	{ KEY_RIGHT, LINE_RIGHT },
	{ KEY_CONTROL('f'), LINE_RIGHT },
	{ KEY_HOME, LINE_START },
	{ KEY_CONTROL('a'), LINE_START },
	{ KEY_END, LINE_END },
	{ KEY_CONTROL('e'), LINE_END },
	{ KEY_BACKSPACE, LINE_ERASE_BEFORE },
	{ KEY_CONTROL('h'), LINE_ERASE_BEFORE },
	{ 127, LINE_ERASE_BEFORE },
	{ KEY_DC, LINE_ERASE_AT },
	{ KEY_CONTROL('d'), LINE_ERASE_AT },
	{ KEY_CONTROL('w'), LINE_ERASE_WORD },
	{ KEY_CONTROL('u'), LINE_ERASE_START },
	{ KEY_CONTROL('k'), LINE_ERASE_END },
};

void line_edit_key(struct line_edit *edit, int key, struct text character)
{
	for (size_t i = 0; i < array_length(moves); i++)
		if (moves[i].key == key)
			line_edit_move(edit, moves[i].move);
	if (character.length && (unsigned char)character.bytes[0] >= ' ')
		line_edit_insert(edit, character);
}
