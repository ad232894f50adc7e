/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "base/file.h"
#include "tui/curses.h"
#include "tui/flame_tui.h"

enum section { KEYS_MOVE, KEYS_WHAT, KEYS_FIND, KEYS_GROW, KEYS_LEAVE, KEY_SECTIONS };

static const char *const heads[KEY_SECTIONS] = {
	[KEYS_MOVE] = "Moving and zooming",
	[KEYS_WHAT] = "What is shown",
	[KEYS_FIND] = "Functions",
	[KEYS_GROW] = "While it grows",
	[KEYS_LEAVE] = "Out",
};

/* The way out comes first. */
static const unsigned hint_order[KEY_SECTIONS] = { KEYS_LEAVE, KEYS_MOVE, KEYS_FIND, KEYS_GROW,
						   KEYS_WHAT };

#define ACTION(name) KEY_ACTION(struct flame_tui, flame_##name, name)

static const struct flame_node *node_at(const struct flame_tui *tui, uint32_t number)
{
	return &tui->flame->nodes.items[number];
}

/* --- moving --- */

static long lines_of(int argument)
{
	const int page = flame_body_lines() > 2 ? flame_body_lines() - 1 : 1;

	if (argument == KEY_ARGUMENT_PAGE || argument == -KEY_ARGUMENT_PAGE)
		return argument < 0 ? -page : page;
	return argument == KEY_ARGUMENT_ALL    ? INT32_MAX
	       : argument == -KEY_ARGUMENT_ALL ? -(long)INT32_MAX
					       : argument;
}

static void move_chosen(struct flame_tui *tui, long by)
{
	const long last = (long)tui->functions.count - 1;
	long to = (long)tui->chosen + by;

	to = to > last ? last : to;
	tui->chosen = to < 0 ? 0 : (size_t)to;
}

/* Down goes to the callee with most time, up to the caller. */
static struct error *move_selected(struct flame_tui *tui, long by)
{
	uint32_t node = tui->selected;

	for (; by < 0 && node; by++)
		node = node_at(tui, node)->parent;
	for (; by > 0; by--) {
		/* Towards what is zoomed into there is one way. */
		uint32_t next = tui->zoomed;

		if (flame_is_below(tui->flame, tui->zoomed, node))
			next = flame_widest(tui->flame, node);
		else
			while (node_at(tui, next)->parent != node)
				next = node_at(tui, next)->parent;
		if (next == NODE_NONE || (flame_is_below(tui->flame, tui->zoomed, next) &&
					  !flame_rows_find(&tui->rows, tui->flame, next)))
			break;
		node = next;
	}
	return flame_tui_select(tui, node);
}

/* Rows go up where the root is below. */
static bool is_upside_down(const struct flame_tui *tui)
{
	return tui->mode == FLAME_MODE_GRAPH && tui->settings.root_is_below;
}

ACTION(move_by)
{
	const long by = is_upside_down(tui) ? -lines_of(argument) : lines_of(argument);

	if (tui->mode == FLAME_MODE_HELP)
		page_scroll(&tui->page, by, flame_body_lines() + 1);
	else if (!tui->flame)
		return NULL;
	else if (tui->mode == FLAME_MODE_FUNCTIONS)
		move_chosen(tui, by);
	else
		return move_selected(tui, by);
	return NULL;
}

/* The next box in the row, whatever its caller is. */
ACTION(move_beside)
{
	const struct flame_row *row;
	const struct flame_box *at;

	if (!tui->flame)
		return NULL;
	at = flame_rows_find(&tui->rows, tui->flame, tui->selected);
	if (!at)
		return NULL;
	row = &tui->rows.items[node_at(tui, tui->selected)->depth];
	for (at += argument; at >= row->items && at < row->items + row->count; at += argument)
		if (at->node != NODE_NONE)
			return flame_tui_select(tui, at->node);
	return NULL;
}

ACTION(zoom_in)
{
	(void)argument;
	return tui->flame ? flame_tui_zoom(tui, tui->selected) : NULL;
}

ACTION(zoom_out)
{
	struct error *err;

	(void)argument;
	if (!tui->flame || !tui->zoomed)
		return NULL;
	err = flame_tui_zoom(tui, node_at(tui, tui->zoomed)->parent);
	return err ? err : flame_tui_select(tui, tui->zoomed);
}

static struct error *find_nothing(struct flame_tui *tui)
{
	line_edit_set(&tui->search, TEXT(""));
	return flame_tui_look(tui);
}

/* The nearest of what could be meant goes first. */
ACTION(escape)
{
	(void)argument;
	if (tui->search.length)
		return find_nothing(tui);
	return tui->flame ? flame_tui_zoom(tui, 0) : NULL;
}

/* --- what is shown --- */

static struct error *show_time(struct flame_tui *tui, enum flame_time time)
{
	const unsigned classes = tui->options->classes;
	const bool has_on = classes & FLAME_ON_CPU, has_off = classes & FLAME_OFF_CPU;

	if ((time != FLAME_TIME_OFF_CPU && !has_on) || (time != FLAME_TIME_ON_CPU && !has_off)) {
		flame_tui_say(tui, false, "The profile has only time %s the CPU (--mode).",
			      has_on ? "on" : "off");
		return NULL;
	}
	tui->time = time;
	return flame_tui_make(tui);
}

ACTION(show_as)
{
	return show_time(tui, (enum flame_time)argument);
}

ACTION(show_next)
{
	(void)argument;
	return show_time(tui, (tui->time + 1) % FLAME_TIME_COUNT);
}

ACTION(group_next)
{
	/* CPUs are counted apart only where that was asked for. */
	do {
		tui->view.group_by = (enum flame_group)(
			(tui->view.group_by + FLAME_GROUP_COUNT + (unsigned)argument) %
			FLAME_GROUP_COUNT);
	} while (tui->view.group_by == FLAME_BY_CPU && tui->options->view.group_by != FLAME_BY_CPU);
	/* The first level is of other names. */
	tui->zoomed_path.ends.count = tui->selected_path.ends.count = 0;
	tui->top = 0;
	return flame_tui_make(tui);
}

ACTION(toggle_idle)
{
	(void)argument;
	tui->shows_idle = !tui->shows_idle;
	flame_tui_say(tui, false,
		      tui->shows_idle ? "Idle waits are shown."
				      : "Idle waits of a whole host are hidden.");
	return flame_tui_make(tui);
}

ACTION(turn_over)
{
	(void)argument;
	tui->settings.root_is_below = !tui->settings.root_is_below;
	tui->follows = true;
	flame_tui_say(tui, false,
		      tui->settings.root_is_below ? "Flame: callees are above their callers."
						  : "Icicle: callees are below their callers.");
	return NULL;
}

/* --- functions --- */

ACTION(toggle_functions)
{
	(void)argument;
	tui->mode = tui->mode == FLAME_MODE_FUNCTIONS ? FLAME_MODE_GRAPH : FLAME_MODE_FUNCTIONS;
	return flame_tui_look(tui);
}

ACTION(toggle_total)
{
	(void)argument;
	tui->settings.by_total = !tui->settings.by_total;
	tui->chosen = 0;
	return flame_tui_look(tui);
}

/* Where most time of the function is. */
ACTION(find_chosen)
{
	struct error *err;
	uint32_t node;

	(void)argument;
	if (tui->chosen >= tui->functions.count)
		return NULL;
	node = tui->functions.items[tui->chosen].node;
	tui->mode = FLAME_MODE_GRAPH;
	line_edit_set(&tui->search, name_text(tui->functions.items[tui->chosen].name));
	err = flame_tui_look(tui);
	return err ? err : flame_tui_select(tui, node);
}

ACTION(open_search)
{
	(void)argument;
	tui->mode_before = FLAME_MODE_GRAPH;
	tui->mode = FLAME_MODE_SEARCH;
	line_edit_set(&tui->search, TEXT(""));
	return NULL;
}

static uint32_t next_match(const struct flame_tui *tui, uint32_t from)
{
	uint32_t i = flame_next(tui->flame, tui->zoomed, from);

	while (i != NODE_NONE && !tui->matches[node_at(tui, i)->face])
		i = flame_next(tui->flame, tui->zoomed, i);
	return i;
}

static uint32_t match_before(const struct flame_tui *tui, uint32_t from)
{
	uint32_t found = NODE_NONE;

	for (uint32_t i = tui->zoomed; i != NODE_NONE && i != from;
	     i = flame_next(tui->flame, tui->zoomed, i))
		if (tui->matches[node_at(tui, i)->face])
			found = i;
	return found;
}

/* One that is too narrow is zoomed to, by its caller. */
static struct error *go_to_match(struct flame_tui *tui, uint32_t node)
{
	struct error *err = NULL;

	if (!flame_rows_find(&tui->rows, tui->flame, node))
		err = flame_tui_zoom(tui, node_at(tui, node)->parent);
	return err ? err : flame_tui_select(tui, node);
}

ACTION(go_to_next)
{
	uint32_t from, found;

	if (!tui->flame || !tui->matches)
		return tui->matches ? NULL : open_search(tui, 0);
	from = flame_is_below(tui->flame, tui->zoomed, tui->selected) ? tui->selected : tui->zoomed;
	found = argument > 0 ? next_match(tui, from) : match_before(tui, from);
	if (found == NODE_NONE)
		flame_tui_say(tui, false,
			      argument > 0 ? "There is no further match."
					   : "There is no match before.");
	return found == NODE_NONE ? NULL : go_to_match(tui, found);
}

/* The first match is selected while the text is typed. */
static struct error *search_key(struct flame_tui *tui, int key, struct text character)
{
	const size_t before = tui->search.length;
	struct error *err;

	if (key == '\r' || key == '\n' || key == KEY_ENTER || key == KEY_ESCAPE) {
		tui->mode = tui->mode_before;
		return key == KEY_ESCAPE ? find_nothing(tui) : flame_tui_look(tui);
	}
	line_edit_key(&tui->search, key, character);
	if (tui->search.length == before || !tui->flame)
		return NULL;
	err = flame_tui_look(tui);
	if (!err && tui->matches) {
		const uint32_t found = next_match(tui, tui->zoomed);

		if (found != NODE_NONE)
			err = flame_tui_select(tui, found);
	}
	return err;
}

/* --- while it grows --- */

static bool says_it_is_done(struct flame_tui *tui)
{
	if (!flame_tui_grows(tui))
		flame_tui_say(tui, false, "A file does not grow.");
	return !flame_tui_grows(tui);
}

ACTION(freeze)
{
	(void)argument;
	if (says_it_is_done(tui))
		return NULL;
	tui->is_frozen = !tui->is_frozen;
	tui->feed->freeze(tui->feed->context, tui->is_frozen);
	return flame_tui_make(tui);
}

ACTION(sum_next)
{
	static const char *const words[FLAME_SUM_COUNT] = {
		[FLAME_SUM_ALL] = "All time since the start, or since R was pressed.",
		[FLAME_SUM_DECAY] = "Time counts less the older it is.",
		[FLAME_SUM_LAST] = "Only the last reading.",
	};

	(void)argument;
	if (says_it_is_done(tui))
		return NULL;
	tui->settings.sum = (tui->settings.sum + 1) % FLAME_SUM_COUNT;
	tui->feed->sum_up(tui->feed->context, tui->settings.sum);
	flame_tui_say(tui, false, "%s", words[tui->settings.sum]);
	return flame_tui_make(tui);
}

ACTION(begin_anew)
{
	(void)argument;
	if (says_it_is_done(tui))
		return NULL;
	tui->feed->begin_anew(tui->feed->context);
	flame_tui_say(tui, false, "Begun anew.");
	return flame_tui_make(tui);
}

/* --- out --- */

ACTION(open_help)
{
	_cleanup_free_ char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	(void)argument;
	if (!out)
		return error_system(errno, "the help");
	key_table_print(out, &flame_keys, !flame_tui_grows(tui));
	fputs("# What boxes are\n"
	      "  A box is a function, or a group of threads; below it (in a flame, above it) is\n"
	      "  what it called, as wide as its share of the time. The colour is why most of the\n"
	      "  time was spent; the kernel's functions are darker. Grey pieces are several that\n"
	      "  are too narrow. The list of functions has what each ran itself and its waits,\n"
	      "  also those in libraries and in the kernel, as OWN.\n",
	      out);
	if (!file_close_memory(out, &bytes))
		return &error_no_memory;
	tui->mode_before = (enum flame_mode)tui->mode;
	tui->mode = FLAME_MODE_HELP;
	page_deinit(&tui->page);
	return page_set(&tui->page, take_ptr(bytes));
}

ACTION(back)
{
	(void)argument;
	tui->mode = tui->mode == FLAME_MODE_HELP ? tui->mode_before : FLAME_MODE_GRAPH;
	return flame_tui_look(tui);
}

ACTION(quit)
{
	(void)argument;
	tui->is_over = true;
	return NULL;
}

/* --- the mouse --- */

static struct error *click_box(struct flame_tui *tui, int y, int x)
{
	const struct flame_box *box;
	bool was_selected;
	struct error *err;

	if (!tui->flame)
		return NULL;
	box = flame_rows_at(&tui->rows, flame_row_at(tui, y), x);
	if (!box)
		return NULL;
	if (box->node == NODE_NONE) {
		flame_tui_say(tui, false, "%u functions are too narrow here: zoom into %s.",
			      box->hidden, "their caller");
		return flame_tui_select(tui, box->caller);
	}
	was_selected = box->node == tui->selected;
	err = flame_tui_select(tui, box->node);
	return err || !was_selected ? err : flame_tui_zoom(tui, tui->selected);
}

static struct error *click_function(struct flame_tui *tui, int y)
{
	const int row = y - flame_head_lines() - 1;
	const size_t number = tui->list_top + (size_t)(row > 0 ? row : 0);
	const bool was_chosen = number == tui->chosen;

	if (row < 0 || row >= flame_body_lines() - 1 || number >= tui->functions.count)
		return NULL;
	tui->chosen = number;
	return was_chosen ? find_chosen(tui, 0) : NULL;
}

static void scroll_rows(struct flame_tui *tui, int by)
{
	tui->follows = false;
	tui->top = by < 0 && tui->top < (size_t)-by ? 0 : tui->top + (size_t)by;
}

ACTION(click)
{
	const struct key_row *hint;
	MEVENT event;

	(void)argument;
	if (getmouse(&event) != OK)
		return NULL;
	if (event.bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED)) {
		const int by = event.bstate & BUTTON4_PRESSED ? -3 : 3;

		if (tui->mode != FLAME_MODE_GRAPH)
			return move_by(tui, by);
		scroll_rows(tui, is_upside_down(tui) ? -by : by);
		return NULL;
	}
	if (!(event.bstate & BUTTON1_PRESSED))
		return NULL;
	hint = key_hints_at(&tui->hints, event.y, event.x);
	if (hint)
		return hint->act(tui, hint->argument);
	return tui->mode == FLAME_MODE_GRAPH       ? click_box(tui, event.y, event.x)
	       : tui->mode == FLAME_MODE_FUNCTIONS ? click_function(tui, event.y)
						   : NULL;
}

/* --- the rows --- */

#define GRAPH     FLAME_MODE_GRAPH
#define FUNCTIONS FLAME_MODE_FUNCTIONS
#define HELP      FLAME_MODE_HELP
#define BOTH      (GRAPH | FUNCTIONS)
#define ANY       (BOTH | HELP)

#define KEY_ROW(offered, in, where, as, short_prose, text, action, value, ...)                \
	{                                                                                     \
		.modes = (in), .section = (where), .codes = { __VA_ARGS__ }, .label = (as),   \
		.hint = (short_prose), .prose = (text), .act = (action), .argument = (value), \
		.when = (offered)                                                             \
	}
#define KEY(...)  KEY_ROW(KEY_ALWAYS, __VA_ARGS__)
#define LIVE(...) KEY_ROW(KEY_LIVE, __VA_ARGS__)
/* A further key of an action: the help has it in the row of the first. */
#define ALSO(in, action, value, ...) \
	KEY_ROW(KEY_ALWAYS, in, KEYS_MOVE, NULL, NULL, NULL, action, value, __VA_ARGS__)

static const struct key_row rows[] = {
	/* KEY(modes, section, label, hint, prose, action, argument, codes...) */
	KEY(ANY, KEYS_MOVE, "Up Down", NULL,
	    "to the caller, or to what it called for the longest; also k and j", move_by, 1,
	    KEY_DOWN, 'j'),
	ALSO(ANY, move_by, -1, KEY_UP, 'k'),
	KEY(GRAPH, KEYS_MOVE, "Left Right", NULL, "to the box beside; also h and l", move_beside,
	    -1, KEY_LEFT, 'h'),
	ALSO(GRAPH, move_beside, 1, KEY_RIGHT, 'l'),
	KEY(ANY, KEYS_MOVE, "PgUp PgDn", NULL,
	    "by a page; Home and End, g and G: to the ends; the wheel scrolls", move_by,
	    KEY_ARGUMENT_PAGE, KEY_NPAGE, KEY_CONTROL('f')),
	ALSO(ANY, move_by, -KEY_ARGUMENT_PAGE, KEY_PPAGE, KEY_CONTROL('b')),
	ALSO(ANY, move_by, -KEY_ARGUMENT_ALL, KEY_HOME, 'g'),
	ALSO(ANY, move_by, KEY_ARGUMENT_ALL, KEY_END, 'G'),
	KEY(GRAPH, KEYS_MOVE, "Enter", "zoom", "zoom into the selected box; a second click does so",
	    zoom_in, 0, '\r', '\n', KEY_ENTER, '+'),
	KEY(GRAPH, KEYS_MOVE, "Bksp", "out", "zoom out to the caller; also u and -", zoom_out, 0,
	    KEY_BACKSPACE, 127, 'u', '-'),
	ALSO(GRAPH, zoom_out, 0, KEY_CONTROL('h')),
	KEY(GRAPH, KEYS_MOVE, "Esc", NULL, "end the search, or zoom out to all", escape, 0,
	    KEY_ESCAPE),

	KEY(BOTH, KEYS_WHAT, "Tab", "group",
	    "group by program, process, thread, cgroup, reason, state, or not", group_next, 1,
	    '\t'),
	ALSO(BOTH, group_next, -1, KEY_BTAB),
	KEY(BOTH, KEYS_WHAT, "w", "wall/on/off",
	    "wall time, on the CPU, off the CPU; also 1, 2 and 3", show_next, 0, 'w'),
	ALSO(BOTH, show_as, FLAME_TIME_WALL, '1'),
	ALSO(BOTH, show_as, FLAME_TIME_ON_CPU, '2'),
	ALSO(BOTH, show_as, FLAME_TIME_OFF_CPU, '3'),
	KEY(GRAPH, KEYS_WHAT, "v", "flame/icicle",
	    "the root below, as in flame graphs, or above, as in icicles", turn_over, 0, 'v'),
	KEY(BOTH, KEYS_WHAT, "i", "idle", "show or hide idle waits, in a profile of a whole host",
	    toggle_idle, 0, 'i'),

	KEY(BOTH, KEYS_FIND, "/", "search", "search: what matches is underlined and added up",
	    open_search, 0, '/', KEY_F(3)),
	KEY(GRAPH, KEYS_FIND, "n N", NULL, "the next match, or the one before", go_to_next, 1, 'n'),
	ALSO(GRAPH, go_to_next, -1, 'N'),
	KEY(GRAPH, KEYS_FIND, "f", "functions", "a list of all functions below the zoomed box",
	    toggle_functions, 0, 'f'),
	KEY(FUNCTIONS, KEYS_FIND, NULL, "find", NULL, find_chosen, 0, '\r', '\n', KEY_ENTER),
	KEY(FUNCTIONS, KEYS_FIND, "s", "sort",
	    "in the list: by OWN, or by TOTAL, with all that it called", toggle_total, 0, 's'),
	ALSO(FUNCTIONS, toggle_total, 0, '<', '>'),

	LIVE(BOTH, KEYS_GROW, "p Space", "freeze", "freeze, or continue; it goes on collecting",
	     freeze, 0, 'p', ' '),
	LIVE(BOTH, KEYS_GROW, "a", "all/recent",
	     "all time, or halved again and again, or the last reading alone", sum_next, 0, 'a'),
	LIVE(BOTH, KEYS_GROW, "R", NULL, "begin anew: forget what was collected", begin_anew, 0,
	     'R'),

	KEY(BOTH, KEYS_LEAVE, "?", "help", "this page", open_help, 0, '?', KEY_F(1)),
	KEY(FUNCTIONS | HELP, KEYS_LEAVE, NULL, "back", NULL, back, 0, 'q', KEY_ESCAPE, 'f'),
	ALSO(HELP, back, 0, '?', KEY_F(1), KEY_F(10)),
	KEY(GRAPH, KEYS_LEAVE, "q", "leave", "leave; also F10 and ^C", quit, 0, 'q', KEY_F(10)),
	ALSO(ANY, click, 0, KEY_MOUSE),
};

const struct key_table flame_keys = {
	.rows = rows,
	.count = array_length(rows),
	.heads = heads,
	.section_count = KEY_SECTIONS,
	.hint_order = hint_order,
};

static struct error *press(void *context, int key, struct text character, bool *ret_is_over)
{
	struct flame_tui *tui = context;
	const struct key_row *row;
	struct error *err = flame_tui_lay_out(tui);

	if (err)
		return err;
	if (tui->mode == FLAME_MODE_SEARCH) {
		err = search_key(tui, key, character);
	} else {
		row = key_table_find(&flame_keys, tui->mode, !flame_tui_grows(tui), key);
		/* The message about the key before is outdated. */
		if (row) {
			tui->message.until_ns = 0;
			err = row->act(tui, row->argument);
		} else if (character.length == 1 && character.bytes[0] > ' ') {
			flame_tui_say(tui, false, "%c is no key here; ? shows all keys.",
				      character.bytes[0]);
		}
	}
	*ret_is_over = tui->is_over;
	return err;
}

struct error *flame_tui_read_keys(struct flame_tui *tui)
{
	return keys_read(press, tui);
}
