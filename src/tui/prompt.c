/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include "base/units.h"
#include "tui/curses.h"
#include "tui/tui.h"

/* The prompts: a row for each mode. */
static const struct prompt_row {
	enum tui_mode mode;
	size_t edit; /* its offset in struct tui */
	const char *label, *hint;
	bool is_kept; /* it begins with what was typed before */
} prompts[] = {
	{ MODE_FILTER, offsetof(struct tui, edit),
	  "Filter: ", "name, glob, a|b, user: cgroup: state: pid:  Enter keeps, Esc clears", true },
	{ MODE_JUMP, offsetof(struct tui, jump), "Jump to: ", "12:30, 12:30:15, -5m", false },
	{ MODE_SEARCH, offsetof(struct tui, search), "Search: ", "part of a name; n: the next",
	  false },
	{ MODE_INTERVAL, offsetof(struct tui, interval), "Interval: ", "500ms, 2s, 1m", false },
};

static const struct prompt_row *prompt_of(enum tui_mode mode)
{
	size_t i = 0;

	while (prompts[i].mode != mode)
		i++;
	return &prompts[i];
}

static struct line_edit *edit_of(struct tui *tui, enum tui_mode mode)
{
	return (struct line_edit *)((char *)tui + prompt_of(mode)->edit);
}

void prompt_open(struct tui *tui, enum tui_mode mode)
{
	struct line_edit *edit = edit_of(tui, mode);

	tui->mode = mode;
	edit->cursor = edit->length;
	if (!prompt_of(mode)->is_kept)
		line_edit_set(edit, TEXT(""));
}

/* Apply the filter while it is typed; an incomplete one keeps the previous filter. */
static struct error *apply_filter(struct tui *tui)
{
	struct error *err = state_filter_parse(line_edit_text(&tui->edit), &tui->filter);

	tui->message.until_ns = 0;
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

/* Shorter windows would be of ctprof itself. */
#define INTERVAL_MIN_NS (NS_PER_S / 20)

static void set_interval(struct tui *tui)
{
	uint64_t ns;

	if (tui_is_replay(tui)) {
		tui_say(tui, false, "The windows of a replay are those of its recording.");
		return;
	}
	if (!units_parse_duration(line_edit_text(&tui->interval), &ns) || ns < INTERVAL_MIN_NS) {
		tui_say(tui, true, "An interval is a time of at least 50ms, as 500ms or 2s.");
		return;
	}
	tui->interval_ns = ns;
	window_reader_set_interval(tui->reader, ns);
}

static struct error *leave_prompt(struct tui *tui, bool is_done)
{
	enum tui_mode mode = tui->mode;

	tui->mode = MODE_TABLE;
	if (mode == MODE_FILTER)
		return is_done ? NULL : prompt_clear(tui);
	if (mode == MODE_JUMP && is_done && tui->jump.length)
		window_reader_jump(tui->reader, tui->jump.bytes);
	if (mode == MODE_INTERVAL && is_done && tui->interval.length)
		set_interval(tui);
	return NULL;
}

struct error *prompt_key(struct tui *tui, int key, struct text character)
{
	struct line_edit *edit = edit_of(tui, tui->mode);
	size_t before = edit->length;

	if (key == '\r' || key == '\n' || key == KEY_ENTER)
		return leave_prompt(tui, true);
	if (key == KEY_ESCAPE)
		return leave_prompt(tui, false);
	line_edit_key(edit, key, character);
	if (edit->length == before)
		return NULL;
	if (tui->mode == MODE_SEARCH) {
		tui->message.until_ns = 0;
		if (edit->length && !table_search(tui, edit->bytes, false))
			tui_say(tui, true, "No row has that in its name.");
	}
	return tui->mode == MODE_FILTER ? apply_filter(tui) : NULL;
}

void prompt_draw(struct tui *tui, int y, int columns, int *ret_x)
{
	const struct prompt_row *prompt = prompt_of(tui->mode);
	struct line_edit *edit = edit_of(tui, tui->mode);
	struct text text = line_edit_text(edit);
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);
	char out[FIT_ROOM(sizeof(edit->bytes))];

	pen_text(&pen, STYLE_STRONG, text_of(prompt->label));
	*ret_x = pen.x + (int)fit_text((struct text){ text.bytes, edit->cursor },
				       sizeof(edit->bytes), FIT_START, tui->terminal.utf8, out);
	pen_text(&pen, STYLE_PLAIN, text);
	pen_print(&pen, STYLE_PLAIN, "   ");
	/* A jump is checked only when it is tried. */
	if (tui->message.until_ns && tui->mode & (MODE_FILTER | MODE_SEARCH))
		pen_text(&pen, STYLE_ERROR, text_of(tui->message.text));
	else
		pen_text(&pen, STYLE_DIM, text_of(prompt->hint));
}
