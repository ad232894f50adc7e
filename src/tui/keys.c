/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/keys.h"

#include <wchar.h>

#include "tui/curses.h"

#define ESCAPE          27
#define CONTROL(letter) ((letter)-'a' + 1)
#define PAGE            0x10000 /* as many lines as are seen */
#define ALL             0x20000

const char *const key_section_heads[KEY_SECTIONS] = {
	[KEYS_ROWS] = "Which rows",   [KEYS_LOOK] = "How they look",  [KEYS_MOVE] = "Moving",
	[KEYS_REPLAY] = "In a replay", [KEYS_LEAVE] = "Going deeper, and out",
};

#define ACTION(name) static struct error *name(struct tui *tui, int argument)

/* --- moving --- */

static long lines_of(int argument)
{
	int page = tui_body_lines() - 1, sign = argument < 0 ? -1 : 1;

	if (argument == PAGE || argument == -PAGE)
		return sign * (page > 1 ? page : 1);
	return argument == ALL || argument == -ALL ? sign * (long)UINT32_MAX : argument;
}

ACTION(move_by)
{
	long by = lines_of(argument);

	if (tui->mode == MODE_TABLE)
		table_move(tui, by);
	else if (tui->mode == MODE_COLUMNS)
		tui->chosen = by < 0 ? (tui->chosen > (size_t)-by ? tui->chosen - (size_t)-by : 0) :
			      tui->chosen + (size_t)by < COLUMN_COUNT ? tui->chosen + (size_t)by :
									COLUMN_COUNT - 1;
	else
		page_scroll(&tui->page, by, tui_body_lines() - 1);
	return NULL;
}

ACTION(follow)
{
	(void)argument;
	if (!tui->has_selected)
		tui_say(tui, false, "Select a row first.");
	else
		tui->follows = !tui->follows;
	table_settle(tui);
	return NULL;
}

/* --- which rows --- */

/* Ids, and so the selection and the histories, are those of one kind of rows. */
static struct error *group_by(struct tui *tui, enum state_grouping grouping)
{
	if (tui->view.grouping == grouping)
		return NULL;
	tui->view.grouping = grouping;
	tui->has_selected = tui->follows = false;
	tui->top = tui->selected_at = 0;
	history_clear(&tui->history);
	return tui_list(tui);
}

ACTION(group_as)
{
	return group_by(tui, (enum state_grouping)argument);
}

ACTION(group_next)
{
	return group_by(tui, (enum state_grouping)((tui->view.grouping + STATE_GROUPINGS +
						    (unsigned)argument) %
						   STATE_GROUPINGS));
}

ACTION(toggle_tree)
{
	(void)argument;
	tui->view.is_tree = !tui->view.is_tree;
	return tui_list(tui);
}

ACTION(toggle_kernel)
{
	(void)argument;
	tui->view.no_kernel = !tui->view.no_kernel;
	tui_say(tui, false, tui->view.no_kernel ? "Threads of the kernel are left out." :
						  "Threads of the kernel are shown.");
	return tui_list(tui);
}

ACTION(open_prompt)
{
	prompt_open(tui, (enum tui_mode)argument);
	return NULL;
}

/* --- how they look --- */

ACTION(move_sort)
{
	return table_sort_move(tui, argument);
}

ACTION(reverse)
{
	(void)argument;
	tui->view.sort.reverse = !tui->view.sort.reverse;
	return tui_list(tui);
}

ACTION(toggle_numbers)
{
	(void)argument;
	tui->columns.numbers = !tui->columns.numbers;
	return NULL;
}

ACTION(open_columns)
{
	(void)argument;
	tui->mode = MODE_COLUMNS;
	return NULL;
}

ACTION(toggle_column)
{
	(void)argument;
	tui->columns.is_on[tui->chosen] = !tui->columns.is_on[tui->chosen];
	return NULL;
}

ACTION(freeze)
{
	(void)argument;
	tui->is_paused = !tui->is_paused;
	return NULL;
}

/* --- a replay --- */

ACTION(step)
{
	if (!tui->feed->step(tui->feed->context, argument)) {
		tui_say(tui, false, argument < 0 ? "This is the first window." : "This is the last window.");
		return NULL;
	}
	tui->is_paused = true;
	return tui_next(tui);
}

/* --- deeper, and out --- */

ACTION(open_help)
{
	(void)argument;
	return help_open(tui);
}

ACTION(inspect)
{
	(void)argument;
	return inspector_open(tui);
}

ACTION(profile)
{
	const struct state_line *line = table_selected(tui);

	(void)argument;
	if (tui_is_replay(tui)) {
		tui_say(tui, false, "What is replayed has passed: there is nothing to profile.");
		return NULL;
	}
	if (!line || (tui->mode == MODE_INSPECTOR && tui->inspected_is_gone)) {
		tui_say(tui, false, line ? "It has ended." : "Select a row first.");
		return NULL;
	}
	tui->result.wish = SCREEN_PROFILE;
	tui->result.tid = line->thread->tid;
	tui->is_over = true;
	return NULL;
}

ACTION(back)
{
	(void)argument;
	tui->mode = MODE_TABLE;
	return NULL;
}

ACTION(quit)
{
	(void)argument;
	tui->is_over = true;
	return NULL;
}

/* The nearest of what could be meant goes first. */
ACTION(escape)
{
	(void)argument;
	if (tui->view.filter && tui->view.filter->count)
		return prompt_clear(tui);
	tui->has_selected = tui->follows = false;
	return NULL;
}

/* --- the mouse --- */

ACTION(click)
{
	MEVENT event;
	struct error *err = NULL;
	bool again = false;

	(void)argument;
	if (getmouse(&event) != OK)
		return NULL;
	if (event.bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED)) {
		int by = event.bstate & BUTTON4_PRESSED ? -3 : 3;

		if (tui->mode != MODE_TABLE)
			return move_by(tui, by);
		table_scroll(tui, by);
	} else if (event.bstate & BUTTON1_PRESSED && tui->mode == MODE_TABLE) {
		err = table_click(tui, event.y, event.x, &again);
		if (!err && again)
			err = inspector_open(tui);
	}
	return err;
}

/* --- the rows --- */

#define PAGES (MODE_HELP | MODE_INSPECTOR)
#define LISTS (MODE_TABLE | PAGES | MODE_COLUMNS)

const struct key_row key_rows[] = {
	{ MODE_TABLE, KEYS_ROWS, { '/' }, "/", "filter",
	  "filter: all terms must be met; Esc clears it", open_prompt, MODE_FILTER, false },
	{ MODE_TABLE, KEYS_ROWS, { '\t' }, "Tab", "rows",
	  "threads, processes, cgroups, pools of threads; also 1 to 4", group_next, 1, false },
	{ MODE_TABLE, KEYS_ROWS, { KEY_BTAB }, NULL, NULL, NULL, group_next, -1, false },
	{ MODE_TABLE, KEYS_ROWS, { '1' }, NULL, NULL, NULL, group_as, STATE_BY_THREAD, false },
	{ MODE_TABLE, KEYS_ROWS, { '2' }, NULL, NULL, NULL, group_as, STATE_BY_PROCESS, false },
	{ MODE_TABLE, KEYS_ROWS, { '3' }, NULL, NULL, NULL, group_as, STATE_BY_CGROUP, false },
	{ MODE_TABLE, KEYS_ROWS, { '4' }, NULL, NULL, NULL, group_as, STATE_BY_POOL, false },
	{ MODE_TABLE, KEYS_ROWS, { 't', KEY_F(5) }, "t", "tree", "threads below their group",
	  toggle_tree, 0, false },
	{ MODE_TABLE, KEYS_ROWS, { 'K' }, "K", NULL, "threads of the kernel: with or without",
	  toggle_kernel, 0, false },

	{ MODE_TABLE, KEYS_LOOK, { '<' }, "< >", NULL,
	  "sort by the next column or state; a click on a head too", move_sort, -1, false },
	{ MODE_TABLE, KEYS_LOOK, { '>' }, NULL, "sort", NULL, move_sort, 1, false },
	{ MODE_TABLE, KEYS_LOOK, { 'r' }, "r", NULL, "reverse the order", reverse, 0, false },
	{ MODE_TABLE, KEYS_LOOK, { 'b' }, "b", "bars/numbers", "states as bars, or in %",
	  toggle_numbers, 0, false },
	{ MODE_TABLE, KEYS_LOOK, { 'C' }, "C", "columns", "choose columns", open_columns, 0, false },
	{ MODE_COLUMNS, KEYS_LOOK, { ' ', '\r', '\n', KEY_ENTER }, NULL, "on or off", NULL,
	  toggle_column, 0, false },
	{ MODE_TABLE, KEYS_LOOK, { 'p', ' ' }, "p Space", "freeze",
	  "freeze; the window after it has all that passed", freeze, 0, false },

	{ LISTS, KEYS_MOVE, { KEY_DOWN, 'j' }, "Up Down", NULL,
	  "select another row; it stays selected when rows move", move_by, 1, false },
	{ LISTS, KEYS_MOVE, { KEY_UP, 'k' }, NULL, NULL, NULL, move_by, -1, false },
	{ LISTS, KEYS_MOVE, { KEY_NPAGE, CONTROL('f') }, "PgUp PgDn", NULL,
	  "by a page; Home and End to the ends; the wheel scrolls", move_by, PAGE, false },
	{ LISTS, KEYS_MOVE, { KEY_PPAGE, CONTROL('b') }, NULL, NULL, NULL, move_by, -PAGE, false },
	{ LISTS, KEYS_MOVE, { KEY_HOME }, NULL, NULL, NULL, move_by, -ALL, false },
	{ LISTS, KEYS_MOVE, { KEY_END, 'G' }, NULL, NULL, NULL, move_by, ALL, false },
	{ MODE_TABLE, KEYS_MOVE, { 'F' }, "F", NULL, "follow: keep the selected row in sight",
	  follow, 0, false },

	{ MODE_TABLE | MODE_INSPECTOR, KEYS_REPLAY, { KEY_LEFT, ',' }, "Left Right", NULL,
	  "the window before, or after; also , and .", step, -1, true },
	{ MODE_TABLE | MODE_INSPECTOR, KEYS_REPLAY, { KEY_RIGHT, '.' }, NULL, "step", NULL, step, 1,
	  true },
	{ MODE_TABLE, KEYS_REPLAY, { 'g' }, "g", "jump", "go to a time, as 12:30 or -5m",
	  open_prompt, MODE_JUMP, true },

	{ MODE_TABLE, KEYS_LEAVE, { '\r', '\n', KEY_ENTER }, "Enter", "inspect",
	  "all that is known of the selected thread; a second click too", inspect, 0, false },
	{ MODE_TABLE | MODE_INSPECTOR, KEYS_LEAVE, { 'P' }, "P", "profile",
	  "leave, and profile the selected thread", profile, 0, false },
	{ MODE_TABLE, KEYS_LEAVE, { 'h', '?', KEY_F(1) }, "h ?", "help", "this page", open_help, 0,
	  false },
	{ PAGES | MODE_COLUMNS, KEYS_LEAVE, { 'q', ESCAPE, KEY_F(10), 'h' }, NULL, "back", NULL, back,
	  0, false },
	{ MODE_COLUMNS, KEYS_LEAVE, { 'C' }, NULL, NULL, NULL, back, 0, false },
	{ MODE_TABLE, KEYS_LEAVE, { 'q', KEY_F(10) }, "q", "quit", "quit", quit, 0, false },
	{ MODE_TABLE, KEYS_LEAVE, { ESCAPE }, "Esc", NULL, "clear the filter, or the selection",
	  escape, 0, false },
	{ LISTS, KEYS_MOVE, { KEY_MOUSE }, NULL, NULL, NULL, click, 0, false },
};
const size_t key_row_count = array_length(key_rows);

static bool is_for(const struct tui *tui, const struct key_row *row, int key)
{
	if (!(row->modes & tui->mode) || (row->in_replay_only && !tui_is_replay(tui)))
		return false;
	for (size_t i = 0; i < KEY_CODES_MAX && row->codes[i]; i++)
		if (row->codes[i] == key)
			return true;
	return false;
}

static struct error *press(struct tui *tui, int key, struct text character)
{
	if (tui->mode & (MODE_FILTER | MODE_JUMP))
		return prompt_key(tui, key, character);
	for (size_t i = 0; i < key_row_count; i++)
		if (is_for(tui, &key_rows[i], key))
			return key_rows[i].act(tui, key_rows[i].argument);
	return NULL;
}

struct error *keys_read(struct tui *tui)
{
	struct error *err = NULL;
	wint_t wide;
	int kind;

	while (!err && !tui->is_over && (kind = get_wch(&wide)) != ERR) {
		char bytes[16];
		mbstate_t start = { 0 };
		size_t length = kind == OK ? wcrtomb(bytes, (wchar_t)wide, &start) : 0;

		/* Letters of other scripts have the numbers of ncurses' keys. */
		if (length == (size_t)-1)
			continue;
		err = press(tui, kind == KEY_CODE_YES || wide < 0x80 ? (int)wide : 0,
			    (struct text){ bytes, length });
	}
	return err;
}
