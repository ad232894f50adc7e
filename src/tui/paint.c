/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/paint.h"

#include <stdarg.h>
#include <stdio.h>

#include "tui/curses.h"
#include "tui/sparkline.h"
#include "tui/stacked_bar.h"

#define WIDTH_MAX 512 /* columns that are drawn; wider terminals leave the rest empty */
#define DEFAULT   (-1)

struct colours {
	short of_256, of_8;
};

/* Colours run from green (it runs) to red (it is blocked); idle and sleep for a time have none. */
static const struct colours state_colours[STATE_COUNT] = {
	[STATE_EXEC] = { 71, COLOR_GREEN },         [STATE_RUNNABLE] = { 214, COLOR_YELLOW },
	[STATE_PAGING] = { 170, COLOR_MAGENTA },    [STATE_SLEEP] = { 67, COLOR_BLUE },
	[STATE_LOCK] = { 167, COLOR_RED },          [STATE_IDLE] = { DEFAULT, DEFAULT },
	[STATE_STOPPED] = { 37, COLOR_CYAN },       [STATE_SLEEP_DISK] = { 133, COLOR_MAGENTA },
	[STATE_SLEEP_TIMER] = { DEFAULT, DEFAULT },
};
_Static_assert(STATE_MAIN_COUNT == 7, "state_colours has a colour for each of STATE_MAINS");

const enum state bar_states[BAR_STATES] = {
	STATE_EXEC,  STATE_RUNNABLE,    STATE_PAGING, STATE_LOCK,    STATE_SLEEP_DISK,
	STATE_SLEEP, STATE_SLEEP_TIMER, STATE_IDLE,   STATE_STOPPED,
};

uint64_t bar_state_ns(const struct state_times *times, enum state state)
{
	uint64_t ns = state_times_of(times, state);

	for (size_t i = 0; i < BAR_STATES; i++)
		if (bar_states[i] != state && state_rows[bar_states[i]].main == state)
			ns -= times->ns[bar_states[i]];
	return ns;
}

/* The part of bars that a state is in. */
static enum state bar_state_of(enum state state)
{
	for (size_t i = 0; i < BAR_STATES; i++)
		if (bar_states[i] == state)
			return state;
	return state_rows[state].main;
}

static const struct {
	attr_t attributes;
	struct colours colours;
} styles[] = {
	[STYLE_PLAIN] = { A_NORMAL, { DEFAULT, DEFAULT } },
	[STYLE_DIM] = { A_DIM, { DEFAULT, DEFAULT } },
	[STYLE_STRONG] = { A_BOLD, { DEFAULT, DEFAULT } },
	[STYLE_HEAD] = { A_REVERSE, { DEFAULT, DEFAULT } },
	[STYLE_SORTED] = { A_REVERSE | A_BOLD, { 214, COLOR_YELLOW } },
	[STYLE_ERROR] = { A_BOLD, { 167, COLOR_RED } },
};

void paint_size(int *ret_lines, int *ret_columns)
{
	*ret_lines = getmaxy(stdscr);
	*ret_columns = getmaxx(stdscr) < WIDTH_MAX ? getmaxx(stdscr) : WIDTH_MAX;
}

void paint_begin(void)
{
	attr_set(A_NORMAL, 0, NULL);
	erase();
}

void paint_end(int y, int x)
{
	curs_set(y >= 0);
	if (y >= 0)
		move(y, x);
	refresh();
}

static void use(const struct pen *pen, attr_t attributes, struct colours fore, struct colours back)
{
	int pair = 0;

	if (pen->terminal->colours == 256)
		pair = alloc_pair(fore.of_256, back.of_256);
	else if (pen->terminal->colours)
		pair = alloc_pair(fore.of_8, back.of_8);
	if (pair < 0)
		pair = 0;
	attr_set(attributes, (short)pair, &pair);
}

static const struct colours no_colour = { DEFAULT, DEFAULT };

static void use_style(const struct pen *pen, enum style style)
{
	bool is_state = style >= STYLE_STATE;
	struct colours fore =
		is_state ? state_colours[bar_state_of((enum state)(style - STYLE_STATE))]
			 : styles[style].colours;
	attr_t attributes = is_state ? A_NORMAL : styles[style].attributes;

	/* Dim and reversed is not readable everywhere. */
	if (pen->is_selected) {
		attributes = (attributes & ~A_DIM) | A_REVERSE;
		fore = no_colour;
	}
	use(pen, attributes, fore, no_colour);
}

static void write_text(struct pen *pen, const char *bytes, unsigned width)
{
	if (pen->x + (int)width > pen->end)
		return;
	mvaddstr(pen->y, pen->x, bytes);
	pen->x += (int)width;
}

static unsigned room(const struct pen *pen)
{
	return pen->x < pen->end ? (unsigned)(pen->end - pen->x) : 0;
}

void pen_text(struct pen *pen, enum style style, struct text text)
{
	char out[FIT_ROOM(WIDTH_MAX)];
	unsigned width = fit_text(text, room(pen), FIT_START, pen->terminal->utf8, out);

	use_style(pen, style);
	write_text(pen, out, width);
}

void pen_print(struct pen *pen, enum style style, const char *format, ...)
{
	char line[WIDTH_MAX];
	va_list values;

	va_start(values, format);
	vsnprintf(line, sizeof(line), format, values);
	va_end(values);
	pen_text(pen, style, text_of(line));
}

void pen_skip(struct pen *pen, enum style style, int x)
{
	use_style(pen, style);
	while (pen->x < x && pen->x < pen->end)
		write_text(pen, " ", 1);
}

void pen_field(struct pen *pen, enum style style, struct text text, unsigned width,
	       enum align align, enum fit_end end)
{
	char out[FIT_ROOM(WIDTH_MAX)];
	int start = pen->x;
	unsigned used;

	if (width > room(pen))
		width = room(pen);
	used = fit_text(text, width, end, pen->terminal->utf8, out);
	if (align == ALIGN_RIGHT)
		pen_skip(pen, style, start + (int)(width - used));
	use_style(pen, style);
	write_text(pen, out, used);
	pen_skip(pen, style, start + (int)width);
}

/* --- bars --- */

static enum state part_state(unsigned part)
{
	return part < BAR_STATES ? bar_states[part] : STATE_IDLE;
}

bool pen_has_blocks(const struct pen *pen)
{
	return pen->terminal->utf8 && pen->terminal->colours;
}

static void put_letter(struct pen *pen, unsigned part)
{
	char letter[2] = " ";

	if (part < BAR_STATES)
		letter[0] = state_rows[bar_states[part]].letter;
	use(pen, A_NORMAL, state_colours[part_state(part)], no_colour);
	write_text(pen, letter, 1);
}

/* Idle time, and sleep for a time, is a line of points: most threads have nothing else, and that
 * should be quiet. */
static void put_point(struct pen *pen, unsigned part)
{
	use(pen, A_DIM, no_colour, no_colour);
	write_text(pen, part < BAR_STATES ? "\xc2\xb7" : " ", 1);
}

static void put_blocks(struct pen *pen, struct bar_cell cell)
{
	struct colours left = state_colours[part_state(cell.left)];
	struct colours right = state_colours[part_state(cell.right)];
	char block[] = "\xe2\x96\x88"; /* U+2588; one less of eight is one more */

	if (left.of_256 == DEFAULT && right.of_256 == DEFAULT) {
		put_point(pen, cell.left);
		return;
	}
	if (cell.left != cell.right)
		block[2] = (char)(0x90 - cell.steps);
	/* No colour in front is the text's, not the background's: so the other is, reversed. */
	if (left.of_256 == DEFAULT)
		use(pen, A_REVERSE, right, no_colour);
	else
		use(pen, A_NORMAL, left, cell.left == cell.right ? no_colour : right);
	write_text(pen, block, 1);
}

void pen_bar(struct pen *pen, const struct state_times *times, uint64_t whole_ns, unsigned width)
{
	struct bar_cell cells[WIDTH_MAX];
	uint64_t parts[BAR_STATES];

	if (width > room(pen))
		width = room(pen);
	for (unsigned i = 0; i < BAR_STATES; i++)
		parts[i] = bar_state_ns(times, bar_states[i]);
	stacked_bar(parts, BAR_STATES, whole_ns, cells, width, pen_has_blocks(pen) ? BAR_STEPS : 1);
	for (unsigned i = 0; i < width; i++) {
		if (pen_has_blocks(pen))
			put_blocks(pen, cells[i]);
		else
			put_letter(pen, cells[i].left);
	}
}

void pen_swatch(struct pen *pen, enum state state)
{
	for (unsigned i = 0; i < BAR_STATES; i++) {
		struct bar_cell cell = { (uint8_t)i, (uint8_t)i, BAR_STEPS };

		if (bar_states[i] != state)
			continue;
		if (pen_has_blocks(pen))
			put_blocks(pen, cell);
		else
			put_letter(pen, i);
	}
}

/* --- boxes --- */

/* Of user space and of the kernel, with dark text. Idle time is grey here: boxes without a colour
 * would not be seen. */
static const struct {
	short user, kernel, of_8;
} box_colours[STATE_COUNT] = {
	[STATE_EXEC] = { 114, 71, COLOR_GREEN },
	[STATE_RUNNABLE] = { 221, 214, COLOR_YELLOW },
	[STATE_PAGING] = { 213, 170, COLOR_MAGENTA },
	[STATE_SLEEP] = { 110, 67, COLOR_BLUE },
	[STATE_LOCK] = { 210, 167, COLOR_RED },
	[STATE_IDLE] = { 250, 245, COLOR_WHITE },
	[STATE_STOPPED] = { 80, 37, COLOR_CYAN },
	[STATE_SLEEP_DISK] = { 177, 133, COLOR_MAGENTA },
	[STATE_SLEEP_TIMER] = { 250, 245, COLOR_WHITE },
};

#define DARK_TEXT  ((struct colours){ 16, COLOR_BLACK })
#define LIGHT_TEXT ((struct colours){ 255, COLOR_WHITE })
#define NOTE_BACK  ((struct colours){ 239, DEFAULT })

static void use_box(const struct pen *pen, struct box_look look, attr_t attributes)
{
	const enum state state = bar_state_of(look.state < STATE_COUNT ? look.state : STATE_SLEEP);
	const struct colours back = { look.is_kernel ? box_colours[state].kernel
						     : box_colours[state].user,
				      box_colours[state].of_8 };

	if (look.is_match)
		attributes |= A_BOLD | A_UNDERLINE;
	/* Light on dark, as nothing else is. */
	if (look.is_selected)
		use(pen, attributes | A_REVERSE | A_BOLD, no_colour, no_colour);
	else if (look.is_note)
		use(pen, attributes, LIGHT_TEXT, NOTE_BACK);
	else
		use(pen, attributes, DARK_TEXT, back);
}

void pen_box(struct pen *pen, struct box_look look, struct text text, unsigned width)
{
	const bool is_line = pen->terminal->utf8 && pen->terminal->colours;
	char out[FIT_ROOM(WIDTH_MAX)];
	const int end = pen->x + (int)(width < room(pen) ? width : room(pen));
	unsigned used;

	if (!room(pen) || !width)
		return;
	use_box(pen,
		(struct box_look){ look.state, look.is_kernel, look.is_note, look.is_selected,
				   false },
		A_NORMAL);
	write_text(pen, is_line ? "\xe2\x96\x8f" : "|", 1); /* U+258F, an eighth at the left */
	use_box(pen, look, A_NORMAL);
	/* The mark of what is left out alone says nothing. */
	if (end - pen->x >= 2 || text.length <= 1) {
		used = fit_text(text, (unsigned)(end - pen->x), FIT_START, pen->terminal->utf8,
				out);
		write_text(pen, out, used);
	}
	look.is_match = false;
	use_box(pen, look, A_NORMAL);
	while (pen->x < end)
		write_text(pen, " ", 1);
}

void pen_box_note(struct pen *pen, struct box_look look, struct text text)
{
	char out[FIT_ROOM(WIDTH_MAX)];
	const unsigned used = fit_text(text, room(pen), FIT_START, pen->terminal->utf8, out);

	look.is_match = false;
	use_box(pen, look, A_NORMAL);
	write_text(pen, out, used);
}

void pen_narrow(struct pen *pen, unsigned width)
{
	use(pen, A_DIM, no_colour, no_colour);
	for (unsigned i = 0; i < width; i++)
		write_text(pen, pen->terminal->utf8 ? "\xe2\x96\x92" : ":", 1); /* U+2592 */
}

void pen_spark(struct pen *pen, const uint8_t *levels, unsigned count)
{
	static const char letters[SPARK_LEVELS + 1] = "_.:-=+*#";

	for (unsigned i = 0; i < count; i++) {
		char mark[] = "\xe2\x96\x81"; /* U+2581 is the lowest */

		if (levels[i] == HISTORY_UNKNOWN) {
			pen_skip(pen, STYLE_PLAIN, pen->x + 1);
			continue;
		}
		mark[2] = (char)((unsigned char)mark[2] + levels[i]);
		if (!pen->terminal->utf8)
			mark[0] = letters[levels[i]], mark[1] = '\0';
		use_style(pen, levels[i] ? STYLE_PLAIN : STYLE_DIM);
		write_text(pen, mark, 1);
	}
}
