/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/tui.h"

#include "tui/curses.h"

enum section { KEYS_ROWS, KEYS_LOOK, KEYS_MOVE, KEYS_REPLAY, KEYS_LEAVE, KEY_SECTIONS };

static const char *const heads[KEY_SECTIONS] = {
	[KEYS_ROWS] = "Which rows",
	[KEYS_LOOK] = "How they look",
	[KEYS_MOVE] = "Moving",
	[KEYS_REPLAY] = "In a replay",
	[KEYS_LEAVE] = "Going deeper, and out",
};

/* The way out comes first. */
static const unsigned hint_order[KEY_SECTIONS] = { KEYS_LEAVE, KEYS_REPLAY, KEYS_ROWS, KEYS_LOOK,
						   KEYS_MOVE };

#define ACTION(name) KEY_ACTION(struct tui, tui_##name, name)

/* --- moving --- */

static long lines_of(const struct tui *tui, int argument)
{
	int page = (tui->mode == MODE_TABLE ? tui_table_lines(tui) : tui_body_lines()) - 1,
	    sign = argument < 0 ? -1 : 1;

	if (argument == KEY_ARGUMENT_PAGE || argument == -KEY_ARGUMENT_PAGE)
		return sign * (page > 1 ? page : 1);
	return argument == KEY_ARGUMENT_ALL || argument == -KEY_ARGUMENT_ALL
		       ? sign * (long)UINT32_MAX
		       : argument;
}

ACTION(move_by)
{
	enum top_column columns[TOP_COLUMN_COUNT];
	const size_t count = chooser_columns(tui, columns);
	long by = lines_of(tui, argument);

	if (tui->mode == MODE_TABLE)
		table_move(tui, by);
	else if (tui->mode & (MODE_COLUMNS | MODE_SORT))
		tui->chosen = by < 0 ? (tui->chosen > (size_t)-by ? tui->chosen - (size_t)-by : 0)
			      : tui->chosen + (size_t)by < count ? tui->chosen + (size_t)by
								 : count - 1;
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
	tui->view.folded_count = 0;
	history_clear(&tui->history);
	return tui_list(tui);
}

ACTION(group_as)
{
	return group_by(tui, (enum state_grouping)argument);
}

ACTION(group_next)
{
	return group_by(tui, (enum state_grouping)(
				     (tui->view.grouping + STATE_GROUPINGS + (unsigned)argument) %
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
	tui_say(tui, false,
		tui->view.no_kernel ? "Kernel threads are hidden." : "Kernel threads are shown.");
	return tui_list(tui);
}

ACTION(toggle_ended)
{
	(void)argument;
	tui->view.no_ended = !tui->view.no_ended;
	tui_say(tui, false,
		tui->view.no_ended ? "Ended threads are hidden; sums include them."
				   : "Ended threads are shown.");
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

/* The states and keys that a letter of the keyboard sorts by. */
static const struct letter_sort {
	char letter;
	struct state_sort sort;
	const char *prose;
} letter_sorts[] = {
	{ 'A', { .key = STATE_SORT_ACTIVE }, "ACTIVE" },
	{ 'X', { .key = STATE_SORT_STATE, .state = STATE_EXEC }, "EXEC" },
	{ 'R', { .key = STATE_SORT_STATE, .state = STATE_RUNNABLE }, "RUNQ" },
	{ 'L', { .key = STATE_SORT_STATE, .state = STATE_LOCK }, "LOCK" },
	{ 'D', { .key = STATE_SORT_STATE, .state = STATE_SLEEP_DISK }, "DISK" },
	{ 'N', { .key = STATE_SORT_STATE, .state = STATE_SLEEP_NETWORK }, "NET" },
	{ 'W', { .key = STATE_SORT_NOW }, "NOW FOR, the longest wait" },
	{ 'S', { .key = STATE_SORT_SWITCHES }, "SW/s" },
	{ 'T', { .key = STATE_SORT_CPU }, "CPU%" },
	{ 'M', { .key = STATE_SORT_MEMORY }, "MEM" },
	{ 'I', { .key = STATE_SORT_READ }, "READ/s" },
	{ 'O', { .key = STATE_SORT_WRITE }, "WRITE/s" },
};

ACTION(sort_by_letter)
{
	const struct letter_sort *row = letter_sorts;

	while (row->letter != argument)
		row++;
	if (!table_can_sort(tui, column_of_key(row->sort.key, row->sort.state))) {
		tui_say(tui, false, "These rows have no %s.", row->prose);
		return NULL;
	}
	tui_say(tui, false, "Sorted by %s.", row->prose);
	tui->view.sort = row->sort;
	return tui_list(tui);
}

ACTION(open_sorts)
{
	enum top_column columns[TOP_COLUMN_COUNT];
	struct state_sort sorts[COLUMN_SORTS_MAX];
	size_t count;

	(void)argument;
	tui->mode = MODE_SORT;
	tui->chosen = 0;
	count = chooser_columns(tui, columns);
	/* Begin with the present one; of states it is the state's own, not the bar. */
	for (size_t i = 0; i < count; i++)
		if (column_sorts(columns[i], sorts) == 1 && sort_is(sorts[0], tui->view.sort)) {
			tui->chosen = i;
			break;
		}
	return NULL;
}

ACTION(sort_by_chosen)
{
	struct state_sort sorts[COLUMN_SORTS_MAX];
	enum top_column columns[TOP_COLUMN_COUNT];

	(void)argument;
	chooser_columns(tui, columns);
	column_sorts(columns[tui->chosen], sorts);
	tui->mode = MODE_TABLE;
	tui->view.sort = sorts[0];
	return tui_list(tui);
}

ACTION(search_next)
{
	(void)argument;
	if (!tui->search.length)
		prompt_open(tui, MODE_SEARCH);
	else if (!table_search(tui, tui->search.bytes, true))
		tui_say(tui, true, "No row has that in its name.");
	return NULL;
}

/* Hide the threads below the selected group, or that of the selected thread; or show them again. */
ACTION(fold)
{
	const struct state_line *line = table_selected(tui);
	struct state_view *view = &tui->view;

	(void)argument;
	if (!view->is_tree || !line) {
		tui_say(tui, false,
			view->is_tree ? "Select a row first."
				      : "Only trees (t) have groups to fold.");
		return NULL;
	}
	while (line->depth && line > tui->model->list.lines.items)
		line--;
	for (size_t i = 0; i < view->folded_count; i++)
		if (view->folded[i] == line->id) {
			view->folded[i] = view->folded[--view->folded_count];
			return tui_list(tui);
		}
	if (view->folded_count == STATE_FOLDED_MAX) {
		tui_say(tui, false, "No more than %d groups can be folded.", STATE_FOLDED_MAX);
		return NULL;
	}
	view->folded[view->folded_count++] = line->id;
	table_move(tui, (long)(line - tui->model->list.lines.items) - (long)tui->selected_at);
	return tui_list(tui);
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
	tui->chosen = 0;
	return NULL;
}

ACTION(toggle_column)
{
	enum top_column columns[TOP_COLUMN_COUNT], column;

	(void)argument;
	chooser_columns(tui, columns);
	column = columns[tui->chosen];
	tui->columns.is_on[column] = !tui->columns.is_on[column];
	return NULL;
}

ACTION(reset_columns)
{
	(void)argument;
	column_choice_init(&tui->columns);
	return NULL;
}

ACTION(freeze)
{
	(void)argument;
	tui->is_paused = !tui->is_paused;
	window_reader_pause(tui->reader, tui->is_paused);
	return NULL;
}

/* --- a replay --- */

ACTION(step)
{
	window_reader_step(tui->reader, argument);
	return NULL;
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
	inspector_open(tui);
	return NULL;
}

ACTION(toggle_split)
{
	(void)argument;
	if (!tui->feed->inspect) {
		tui_say(tui, false, "No further details.");
		return NULL;
	}
	tui->is_split = !tui->is_split;
	if (!tui->is_split) {
		inspector_close(tui);
	} else if (tui_table_lines(tui) == tui_body_lines()) {
		tui->is_split = false;
		tui_say(tui, false, "The terminal is too low for two parts.");
	} else {
		/* The selected row into the upper part; if there is none, the first. */
		table_move(tui, !tui->has_selected);
	}
	return NULL;
}

ACTION(scroll_lower)
{
	const int height = tui_body_lines() - tui_table_lines(tui) - 1;

	if (!tui->is_split)
		tui_say(tui, false, "Only the split view (s) has a lower part.");
	page_scroll(&tui->lower, argument * (height > 1 ? height - 1 : 1), height);
	return NULL;
}

ACTION(profile)
{
	const struct state_line *line = table_selected(tui);
	const struct state_thread *thread;
	enum state_grouping grouping = tui->view.grouping;
	bool is_inspected = tui->mode == MODE_INSPECTOR;

	(void)argument;
	if (tui_is_replay(tui)) {
		tui_say(tui, false, "A replay cannot be profiled.");
		return NULL;
	}
	if (!line && !is_inspected) {
		tui_say(tui, false, "Select a row first.");
		return NULL;
	}
	if (is_inspected ? tui->inspected_is_gone : !line->threads) {
		tui_say(tui, false, "It has ended.");
		return NULL;
	}
	thread = is_inspected ? &tui->inspected.thread : line->thread;
	if (is_inspected)
		grouping = tui->inspected.grouping;
	else if (table_is_process(tui, line))
		grouping = STATE_BY_PROCESS;
	else if (line->depth)
		grouping = STATE_BY_THREAD;
	tui->result.exit = SCREEN_PROFILE;
	tui->result.cgroup = grouping == STATE_BY_CGROUP ? thread->cgroup : NULL;
	tui->result.is_process = grouping == STATE_BY_PROCESS;
	tui->result.is_pool = grouping == STATE_BY_POOL;
	tui->result.pool = is_inspected ? tui->inspected.line : line->id;
	tui->result.tid = tui->result.is_process ? thread->tgid : thread->tid;
	tui->is_over = true;
	return NULL;
}

ACTION(back)
{
	(void)argument;
	if (tui->mode == MODE_INSPECTOR)
		inspector_close(tui);
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

/* The legend sorts by a state; a hint in the last line is the key that it names. */
static struct error *click_spot(struct tui *tui, int y, int x, bool *ret_hit)
{
	const struct key_row *hint;

	*ret_hit = true;
	for (size_t i = 0; i < BAR_STATES && tui->mode == MODE_TABLE; i++)
		if (tui_hits(&tui->legend[i], y, x))
			return table_sort_by(tui, (struct state_sort){ .key = STATE_SORT_STATE,
								       .state = bar_states[i] });
	hint = key_hints_at(&tui->hints, y, x);
	*ret_hit = hint != NULL;
	return hint ? hint->act(tui, hint->argument) : NULL;
}

ACTION(click)
{
	MEVENT event;
	struct error *err = NULL;
	bool again = false, hit = false;

	(void)argument;
	if (getmouse(&event) != OK)
		return NULL;
	if (event.bstate & BUTTON1_PRESSED)
		err = click_spot(tui, event.y, event.x, &hit);
	if (hit)
		return err;
	if (event.bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED)) {
		int by = event.bstate & BUTTON4_PRESSED ? -3 : 3;

		if (tui->mode != MODE_TABLE)
			return move_by(tui, by);
		if (event.y >= tui_head_lines() + tui_table_lines(tui)) {
			page_scroll(&tui->lower, by, tui_body_lines() - tui_table_lines(tui) - 1);
			return NULL;
		}
		table_scroll(tui, by);
	} else if (event.bstate & BUTTON1_PRESSED && tui->mode == MODE_TABLE) {
		err = table_click(tui, event.y, event.x, &again);
		if (!err && again)
			inspector_open(tui);
	}
	return err;
}

/* --- the rows --- */

#define PAGES   (MODE_HELP | MODE_INSPECTOR)
#define LISTS   (MODE_TABLE | PAGES | MODE_COLUMNS | MODE_SORT)
#define PROMPTS (MODE_FILTER | MODE_JUMP | MODE_SEARCH | MODE_INTERVAL)

#define KEY_ROW(offered, in, where, as, short_prose, text, action, value, ...)                \
	{                                                                                     \
		.modes = (in), .section = (where), .codes = { __VA_ARGS__ }, .label = (as),   \
		.hint = (short_prose), .prose = (text), .act = (action), .argument = (value), \
		.when = (offered)                                                             \
	}
#define KEY(...)    KEY_ROW(KEY_ALWAYS, __VA_ARGS__)
#define REPLAY(...) KEY_ROW(KEY_IN_REPLAY, __VA_ARGS__)
#define LIVE(...)   KEY_ROW(KEY_LIVE, __VA_ARGS__)
/* A further key of an action: the help has it in the row of the first. */
#define ALSO(in, action, value, ...) \
	KEY_ROW(KEY_ALWAYS, in, KEYS_ROWS, NULL, NULL, NULL, action, value, __VA_ARGS__)

static const struct key_row rows[] = {
	/* KEY(modes, section, label, hint, prose, action, argument, codes...) */
	KEY(MODE_TABLE, KEYS_ROWS, "/", "filter", "filter: all terms must be met; Esc clears it",
	    open_prompt, MODE_FILTER, '/', KEY_F(4)),
	KEY(MODE_TABLE, KEYS_ROWS, "F3", NULL, "search for a name: select its row; n: the next one",
	    open_prompt, MODE_SEARCH, KEY_F(3)),
	ALSO(MODE_TABLE, search_next, 0, 'n'),
	KEY(MODE_TABLE, KEYS_ROWS, "Tab", "rows", "threads, processes, cgroups, pools; also 1 to 4",
	    group_next, 1, '\t'),
	ALSO(MODE_TABLE, group_next, -1, KEY_BTAB),
	ALSO(MODE_TABLE, group_as, STATE_BY_THREAD, '1'),
	ALSO(MODE_TABLE, group_as, STATE_BY_PROCESS, '2'),
	ALSO(MODE_TABLE, group_as, STATE_BY_CGROUP, '3'),
	ALSO(MODE_TABLE, group_as, STATE_BY_POOL, '4'),
	KEY(MODE_TABLE, KEYS_ROWS, "t", "tree", "tree: threads below their process or group",
	    toggle_tree, 0, 't', KEY_F(5)),
	KEY(MODE_TABLE, KEYS_ROWS, "- +", NULL, "in a tree: hide or show the threads of a group",
	    fold, 0, '-', '+'),
	KEY(MODE_TABLE, KEYS_ROWS, "K", NULL, "show or hide kernel threads", toggle_kernel, 0, 'K'),
	KEY(MODE_TABLE, KEYS_ROWS, "E", NULL, "what ended in the window: with or without",
	    toggle_ended, 0, 'E'),

	KEY(MODE_TABLE, KEYS_LOOK, "<>", "sort",
	    "sort by the next column or state; a click on a heading too", move_sort, -1, '<'),
	ALSO(MODE_TABLE, move_sort, 1, '>'),
	KEY(MODE_TABLE, KEYS_LOOK, "A X R L D", NULL,
	    "sort by ACTIVE, EXEC, RUNQ, LOCK, DISK; so does a click on one", sort_by_letter, 'A',
	    'A'),
	KEY(MODE_TABLE, KEYS_LOOK, "N W S", NULL, "sort by NET, by the longest wait, by SW/s",
	    sort_by_letter, 'N', 'N'),
	KEY(MODE_TABLE, KEYS_LOOK, "T M I O", NULL, "sort by CPU%, MEM, READ/s, WRITE/s",
	    sort_by_letter, 'T', 'T'),
	ALSO(MODE_TABLE, sort_by_letter, 'M', 'M'),
	ALSO(MODE_TABLE, sort_by_letter, 'I', 'I'),
	ALSO(MODE_TABLE, sort_by_letter, 'O', 'O'),
	ALSO(MODE_TABLE, sort_by_letter, 'X', 'X'),
	ALSO(MODE_TABLE, sort_by_letter, 'R', 'R'),
	ALSO(MODE_TABLE, sort_by_letter, 'L', 'L'),
	ALSO(MODE_TABLE, sort_by_letter, 'D', 'D'),
	ALSO(MODE_TABLE, sort_by_letter, 'W', 'W'),
	ALSO(MODE_TABLE, sort_by_letter, 'S', 'S'),
	KEY(MODE_TABLE, KEYS_LOOK, "F6", NULL,
	    "choose the column to sort by: any, also one that is not shown", open_sorts, 0,
	    KEY_F(6)),
	KEY(MODE_SORT, KEYS_LOOK, NULL, "sort by it", NULL, sort_by_chosen, 0, '\r', '\n',
	    KEY_ENTER, ' '),
	LIVE(MODE_TABLE, KEYS_LOOK, "i", NULL, "change the interval", open_prompt, MODE_INTERVAL,
	     'i'),
	KEY(MODE_TABLE, KEYS_LOOK, "r", NULL, "reverse the order", reverse, 0, 'r'),
	KEY(MODE_TABLE, KEYS_LOOK, "b", "bars", "states as bars, or in %", toggle_numbers, 0, 'b'),
	KEY(MODE_TABLE, KEYS_LOOK, "C", "columns", "choose columns", open_columns, 0, 'C'),
	KEY(MODE_COLUMNS, KEYS_LOOK, NULL, "on or off", NULL, toggle_column, 0, ' ', '\r', '\n',
	    KEY_ENTER),
	KEY(MODE_COLUMNS, KEYS_LOOK, "d", "default", "in the list of columns: the default ones",
	    reset_columns, 0, 'd'),
	KEY(MODE_TABLE, KEYS_LOOK, "p Space", "freeze",
	    "pause, or continue; the next window has the time in between", freeze, 0, 'p', ' '),

	KEY(LISTS, KEYS_MOVE, "Up Down", NULL,
	    "select a row: it stays selected when rows move; also k and j", move_by, 1, KEY_DOWN,
	    'j'),
	ALSO(LISTS, move_by, -1, KEY_UP, 'k'),
	KEY(LISTS, KEYS_MOVE, "PgUp PgDn", NULL,
	    "by a page; Home and End to the ends; the wheel scrolls", move_by, KEY_ARGUMENT_PAGE,
	    KEY_NPAGE, KEY_CONTROL('f')),
	ALSO(LISTS, move_by, -KEY_ARGUMENT_PAGE, KEY_PPAGE, KEY_CONTROL('b')),
	ALSO(LISTS, move_by, -KEY_ARGUMENT_ALL, KEY_HOME),
	ALSO(LISTS, move_by, KEY_ARGUMENT_ALL, KEY_END, 'G'),
	KEY(MODE_TABLE, KEYS_MOVE, "F", NULL, "follow: keep the selected row in view", follow, 0,
	    'F'),

	REPLAY(MODE_TABLE | MODE_INSPECTOR, KEYS_REPLAY, "Left/Right", "step",
	       "the window before, or after; also , and .", step, -1, ',', KEY_LEFT),
	REPLAY(MODE_TABLE | MODE_INSPECTOR, KEYS_REPLAY, NULL, NULL, NULL, step, 1, '.', KEY_RIGHT),
	REPLAY(MODE_TABLE, KEYS_REPLAY, "g", "jump", "go to a time, as 12:30 or -5m", open_prompt,
	       MODE_JUMP, 'g'),

	KEY(MODE_TABLE, KEYS_LEAVE, "Enter", "inspect",
	    "inspect the selected thread; a second click does so too", inspect, 0, '\r', '\n',
	    KEY_ENTER),
	KEY(MODE_TABLE, KEYS_LEAVE, "s", NULL,
	    "split: the inspector below the table, of the selected row", toggle_split, 0, 's'),
	KEY(MODE_TABLE, KEYS_LEAVE, "[ ]", NULL, "scroll the inspector below the table",
	    scroll_lower, -1, '['),
	ALSO(MODE_TABLE, scroll_lower, 1, ']'),
	LIVE(MODE_TABLE | MODE_INSPECTOR, KEYS_LEAVE, "P", "flame graph",
	     "a flame graph of the selected thread, process, cgroup or pool, live", profile, 0,
	     'P'),
	KEY(MODE_TABLE, KEYS_LEAVE, "h ?", "help", "this page", open_help, 0, 'h', '?', KEY_F(1)),
	KEY(PAGES | MODE_COLUMNS | MODE_SORT, KEYS_LEAVE, NULL, "back", NULL, back, 0, 'q',
	    KEY_ESCAPE, KEY_F(10)),
	ALSO(MODE_HELP, back, 0, 'h', '?', KEY_F(1)),
	ALSO(MODE_COLUMNS, back, 0, 'C'),
	KEY(MODE_TABLE, KEYS_LEAVE, "q", "quit", "quit; also F10 and ^C", quit, 0, 'q', KEY_F(10)),
	KEY(MODE_TABLE, KEYS_LEAVE, "Esc", NULL, "clear the filter, or the selection", escape, 0,
	    KEY_ESCAPE),
	ALSO(LISTS, click, 0, KEY_MOUSE),
};
const struct key_table tui_keys = {
	.rows = rows,
	.count = array_length(rows),
	.heads = heads,
	.section_count = KEY_SECTIONS,
	.hint_order = hint_order,
};

static struct error *press(void *context, int key, struct text character, bool *ret_is_over)
{
	struct tui *tui = context;
	const struct key_row *row;
	struct error *err = NULL;

	if (tui->mode & PROMPTS) {
		err = prompt_key(tui, key, character);
	} else {
		row = key_table_find(&tui_keys, tui->mode, tui_is_replay(tui), key);
		/* The message about the key before is outdated. */
		if (row) {
			tui->message.until_ns = 0;
			err = row->act(tui, row->argument);
		} else if (character.length == 1 && character.bytes[0] > ' ') {
			tui_say(tui, false, "%c is no key here; h shows all keys.",
				character.bytes[0]);
		}
	}
	*ret_is_over = tui->is_over;
	return err;
}

struct error *tui_read_keys(struct tui *tui)
{
	return keys_read(press, tui);
}
