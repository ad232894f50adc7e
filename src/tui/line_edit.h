/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line of text that is being typed.
 */
#ifndef TUI_LINE_EDIT_H
#define TUI_LINE_EDIT_H

#include "base/text.h"

/* Always whole characters of UTF-8, with a NUL at the end. */
struct line_edit {
	char bytes[256];
	size_t length, cursor; /* in bytes; the cursor stands before a character, or at the end */
};

/* Starts with this text, as far as there is room, and the cursor at its end. */
void line_edit_set(struct line_edit *edit, struct text text);

/* Insert a character at the cursor; ignored if there is no room, or it is invalid. */
void line_edit_insert(struct line_edit *edit, struct text character);

enum line_edit_move {
	LINE_LEFT,
	LINE_RIGHT,
	LINE_START,
	LINE_END,
	LINE_ERASE_BEFORE, /* the character before the cursor */
	LINE_ERASE_AT,     /* the one at the cursor */
	LINE_ERASE_WORD,   /* before the cursor, with the spaces after it */
	LINE_ERASE_START,  /* all before the cursor */
	LINE_ERASE_END,    /* all from the cursor on */
};
void line_edit_move(struct line_edit *edit, enum line_edit_move move);

/* What a key does, of ncurses or ASCII: it moves the cursor, erases, or inserts its character. */
void line_edit_key(struct line_edit *edit, int key, struct text character);

static inline struct text line_edit_text(const struct line_edit *edit)
{
	return (struct text){ edit->bytes, edit->length };
}

#endif
