/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/line_edit.h"

#include "base/utf8.h"

void line_edit_set(struct line_edit *edit, struct text text)
{
	edit->length = edit->cursor = 0;
	edit->bytes[0] = '\0';
	while (text.length) {
		size_t length = utf8_sequence(text.bytes, text.length);

		if (length)
			line_edit_insert(edit, (struct text){ text.bytes, length });
		length = length ? length : 1;
		text.bytes += length;
		text.length -= length;
	}
}

void line_edit_insert(struct line_edit *edit, struct text character)
{
	char *at = edit->bytes + edit->cursor;

	if (!character.length || edit->length + character.length >= sizeof(edit->bytes) ||
	    utf8_sequence(character.bytes, character.length) != character.length)
		return;
	memmove(at + character.length, at, edit->length - edit->cursor + 1);
	memcpy(at, character.bytes, character.length);
	edit->length += character.length;
	edit->cursor += character.length;
}

/* The place before the character that ends at `place`. */
static size_t before(const struct line_edit *edit, size_t place)
{
	if (place)
		place--;
	while (place && ((unsigned char)edit->bytes[place] & 0xc0) == 0x80)
		place--;
	return place;
}

static size_t after(const struct line_edit *edit, size_t place)
{
	return place + (place < edit->length
				? utf8_sequence(edit->bytes + place, edit->length - place)
				: 0);
}

static size_t word_start(const struct line_edit *edit)
{
	size_t place = edit->cursor;

	while (place && edit->bytes[place - 1] == ' ')
		place--;
	while (place && edit->bytes[place - 1] != ' ')
		place--;
	return place;
}

/* Deletes the bytes between two places. */
static void erase(struct line_edit *edit, size_t from, size_t to)
{
	memmove(edit->bytes + from, edit->bytes + to, edit->length - to + 1);
	edit->length -= to - from;
	edit->cursor = from;
}

void line_edit_move(struct line_edit *edit, enum line_edit_move move)
{
	size_t at = edit->cursor;

	switch (move) {
	case LINE_LEFT:
		edit->cursor = before(edit, at);
		break;
	case LINE_RIGHT:
		edit->cursor = after(edit, at);
		break;
	case LINE_START:
		edit->cursor = 0;
		break;
	case LINE_END:
		edit->cursor = edit->length;
		break;
	case LINE_ERASE_BEFORE:
		erase(edit, before(edit, at), at);
		break;
	case LINE_ERASE_AT:
		erase(edit, at, after(edit, at));
		break;
	case LINE_ERASE_WORD:
		erase(edit, word_start(edit), at);
		break;
	case LINE_ERASE_START:
		erase(edit, 0, at);
		break;
	case LINE_ERASE_END:
		erase(edit, at, edit->length);
		break;
	}
}
