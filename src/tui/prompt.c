/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/curses.h"
#include "tui/tui.h"

#define CONTROL(letter) ((letter) - 'a' + 1)
#define ESCAPE          27

static const struct {
	int key;
	enum line_edit_move move;
} moves[] = {
	{ KEY_LEFT, LINE_LEFT },
	{ CONTROL('b'), LINE_LEFT },
	{ KEY_RIGHT, LINE_RIGHT },
	{ CONTROL('f'), LINE_RIGHT },
	{ KEY_HOME, LINE_START },
	{ CONTROL('a'), LINE_START },
	{ KEY_END, LINE_END },
	{ CONTROL('e'), LINE_END },
	{ KEY_BACKSPACE, LINE_ERASE_BEFORE },
	{ CONTROL('h'), LINE_ERASE_BEFORE },
	{ 127, LINE_ERASE_BEFORE },
	{ KEY_DC, LINE_ERASE_AT },
	{ CONTROL('d'), LINE_ERASE_AT },
	{ CONTROL('w'), LINE_ERASE_WORD },
	{ CONTROL('u'), LINE_ERASE_START },
	{ CONTROL('k'), LINE_ERASE_END },
};

static struct line_edit *edit_of(struct tui *tui, enum tui_mode mode)
{
	return mode == MODE_FILTER ? &tui->edit : &tui->jump;
}

void prompt_open(struct tui *tui, enum tui_mode mode)
{
	struct line_edit *edit = edit_of(tui, mode);

	tui->mode = mode;
	edit->cursor = edit->length;
	if (mode == MODE_JUMP)
		line_edit_set(edit, TEXT(""));
}

/* Apply the filter while it is typed; an incomplete one keeps the previous filter. */
static struct error *apply_filter(struct tui *tui)
{
	struct error *err = state_filter_parse(line_edit_text(&tui->edit), &tui->filter);

	tui->message_until = 0;
	if (err) {
		tui_say(tui, true, "%s", err->message);
		error_destroy(err);
		return NULL;
	}
	tui->view.filter = &tui->filter;
	return tui_list(tui);
}

struct error *prompt_clear(struct tui *tui)
{
	line_edit_set(&tui->edit, TEXT(""));
	return apply_filter(tui);
}

static struct error *leave_prompt(struct tui *tui, bool is_done)
{
	enum tui_mode mode = tui->mode;

	tui->mode = MODE_TABLE;
	if (mode == MODE_FILTER)
		return is_done ? NULL : prompt_clear(tui);
	if (is_done && tui->jump.length)
		window_reader_jump(tui->reader, tui->jump.bytes);
	return NULL;
}

struct error *prompt_key(struct tui *tui, int key, struct text character)
{
	struct line_edit *edit = edit_of(tui, tui->mode);
	size_t before = edit->length;

	if (key == '\r' || key == '\n' || key == KEY_ENTER)
		return leave_prompt(tui, true);
	if (key == ESCAPE)
		return leave_prompt(tui, false);
	for (size_t i = 0; i < array_length(moves); i++)
		if (moves[i].key == key)
			line_edit_move(edit, moves[i].move);
	if (character.length && (unsigned char)character.bytes[0] >= ' ')
		line_edit_insert(edit, character);
	return tui->mode == MODE_FILTER && edit->length != before ? apply_filter(tui) : NULL;
}

void prompt_draw(struct tui *tui, int y, int columns, int *ret_x)
{
	bool is_filter = tui->mode == MODE_FILTER;
	struct line_edit *edit = edit_of(tui, tui->mode);
	struct text text = line_edit_text(edit);
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);
	char out[FIT_ROOM(sizeof(edit->bytes))];

	pen_text(&pen, STYLE_STRONG, is_filter ? TEXT("Filter: ") : TEXT("Jump to: "));
	*ret_x = pen.x + (int)fit_text((struct text){ text.bytes, edit->cursor },
				       sizeof(edit->bytes), FIT_START, tui->terminal.utf8, out);
	pen_text(&pen, STYLE_PLAIN, text);
	pen_print(&pen, STYLE_PLAIN, "   ");
	/* A jump is checked only when it is tried. */
	if (tui->message_until && is_filter)
		pen_text(&pen, STYLE_ERROR, text_of(tui->message));
	else
		pen_print(&pen, STYLE_DIM, "%s",
			  is_filter ? "name, glob, a|b, user: cgroup: state: pid:  "
				      "Enter keeps, Esc clears"
				    : "12:30, 12:30:15, -5m");
}
