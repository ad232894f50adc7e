/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/key_table.h"

#include <stdarg.h>
#include <string.h>
#include <wchar.h>

#include "base/clock.h"
#include "tui/curses.h"

#define MESSAGE_S 4

const struct key_row *key_table_find(const struct key_table *table, unsigned mode, bool is_replay,
				     int key)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct key_row *row = &table->rows[i];

		if (!(row->modes & mode) || (row->when == KEY_IN_REPLAY && !is_replay))
			continue;
		for (size_t k = 0; k < KEY_CODES_MAX && row->codes[k]; k++)
			if (row->codes[k] == key)
				return row;
	}
	return NULL;
}

void key_table_print(FILE *out, const struct key_table *table, bool is_replay)
{
	for (unsigned section = 0; section < table->section_count; section++) {
		bool has_head = false;

		for (size_t i = 0; i < table->count; i++) {
			const struct key_row *row = &table->rows[i];

			if (row->section != section || !row->label ||
			    !key_is_offered(row, is_replay))
				continue;
			if (!has_head)
				fprintf(out, "# %s\n", table->heads[section]);
			has_head = true;
			fprintf(out, "  %-10s  %s\n", row->label, row->prose);
		}
		if (has_head)
			fputc('\n', out);
	}
}

/* --- the last line --- */

/* The first way to write a key. */
static struct text short_label(const struct key_row *row)
{
	struct text label = text_of(row->label ? row->label : ""), word;

	if (text_word(&label, &word))
		return word;
	switch (row->codes[0]) {
	case ' ':
		return TEXT("Space");
	case '\r':
		return TEXT("Enter");
	default:
		return TEXT("Esc");
	}
}

/* False: there is no room for it, and so for none after it. */
static bool draw_hint(struct key_hints *hints, const struct key_row *row, struct pen *pen)
{
	const struct text label = short_label(row);
	const int gap = pen->x ? 2 : 0;

	/* Whole ones, or none. */
	if (pen->x + gap + (int)(label.length + strlen(row->hint)) + 1 > pen->end)
		return false;
	pen_print(pen, STYLE_DIM, "%*s", gap, "");
	if (hints->count < KEY_HINTS_MAX) {
		hints->items[hints->count].row = row;
		hints->items[hints->count].spot = (struct tui_spot){ .y = pen->y, .x = pen->x };
	}
	pen_text(pen, STYLE_STRONG, label);
	pen_print(pen, STYLE_DIM, " %s", row->hint);
	if (hints->count < KEY_HINTS_MAX)
		hints->items[hints->count++].spot.end = pen->x;
	return true;
}

void key_hints_draw(struct key_hints *hints, const struct key_table *table, unsigned mode,
		    bool is_replay, struct pen *pen)
{
	hints->count = 0;
	for (unsigned s = 0; s < table->section_count; s++)
		for (size_t i = 0; i < table->count; i++) {
			const struct key_row *row = &table->rows[i];

			if (row->section == table->hint_order[s] && row->hint &&
			    row->modes & mode && key_is_offered(row, is_replay) &&
			    !draw_hint(hints, row, pen))
				break;
		}
}

const struct key_row *key_hints_at(const struct key_hints *hints, int y, int x)
{
	for (size_t i = 0; i < hints->count; i++)
		if (tui_hits(&hints->items[i].spot, y, x))
			return hints->items[i].row;
	return NULL;
}

void key_message_set(struct key_message *message, bool is_error, const char *format, va_list values)
{
	vsnprintf(message->text, sizeof(message->text), format, values);
	message->is_error = is_error;
	message->until_ns = clock_ns(CLOCK_MONOTONIC) + MESSAGE_S * (uint64_t)NS_PER_S;
}

/* --- what the terminal sends --- */

struct pressed {
	int kind; /* as get_wch() says */
	wint_t wide;
};

static bool read_pressed(struct pressed *ret)
{
	ret->kind = get_wch(&ret->wide);
	return ret->kind != ERR;
}

static bool is_character(const struct pressed *pressed, wint_t from, wint_t to)
{
	return pressed->kind == OK && pressed->wide >= from && pressed->wide <= to;
}

/* A sequence that terminfo does not have, as of Ctrl and an arrow, or of a mouse: its letters are
 * no keys. After "ESC [" or "ESC O" it goes up to its last byte (ECMA-48), which may come a bit
 * later. */
static void swallow_sequence(wint_t kind)
{
	struct pressed part;
	unsigned more = 0;
	bool has;

	timeout(ESCDELAY);
	has = read_pressed(&part);
	/* Two that end otherwise: "ESC [ M" and three bytes of a mouse, "ESC [ [ A" of Linux. */
	if (has && kind == '[')
		more = is_character(&part, 'M', 'M') ? 3 : is_character(&part, '[', '[');
	if (!more)
		while (has && is_character(&part, ' ', '?'))
			has = read_pressed(&part);
	for (; has && more; more--)
		has = read_pressed(&part);
	nodelay(stdscr, TRUE);
}

static struct error *press_one(key_pressed *press, void *context, const struct pressed *pressed,
			       bool *ret_is_over)
{
	wint_t wide = pressed->wide;
	mbstate_t start = { 0 };
	char bytes[16];
	size_t length = pressed->kind == OK ? wcrtomb(bytes, (wchar_t)wide, &start) : 0;

	/* Letters of other scripts have the numbers of ncurses' keys. */
	if (length == (size_t)-1)
		return NULL;
	return press(context, pressed->kind == KEY_CODE_YES || wide < 0x80 ? (int)wide : 0,
		     (struct text){ bytes, length }, ret_is_over);
}

struct error *keys_read(key_pressed *press, void *context)
{
	struct error *err = NULL;
	struct pressed now, next = { .kind = ERR };
	bool has = read_pressed(&now), is_over = false;

	while (has && !err && !is_over) {
		bool is_escape = is_character(&now, KEY_ESCAPE, KEY_ESCAPE);

		/* Only then: a click must be processed before the next one is read. */
		has = is_escape && read_pressed(&next);
		if (has && (is_character(&next, '[', '[') || is_character(&next, 'O', 'O'))) {
			swallow_sequence(next.wide);
			has = false;
		} else {
			err = press_one(press, context, &now, &is_over);
		}
		now = next;
		if (!has)
			has = read_pressed(&now);
	}
	return err;
}
