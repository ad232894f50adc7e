/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder tui/: the screens of top (screen.h) and of flame graphs (flame_screen.h). ncurses
 * (wide; with static archives) knows terminals and sends only changes; it gets only text that was
 * made safe and cut to a width. Its signal handlers are not used: ours write to a pipe, since other
 * threads have their own signal masks. screen waits for keys, signals and windows at once; windows
 * come from a feed in another thread, so tests can show synthetic threads. columns and keys are
 * tables of rows. Idle time has no colour, since most threads have nothing else.
 */

/*
 * Shared declarations of the screen: the displayed window, how it is displayed, and the state of
 * input.
 */
#ifndef TUI_TUI_H
#define TUI_TUI_H

#include "state/last_exits.h"
#include "tui/columns.h"
#include "tui/key_table.h"
#include "tui/line_edit.h"
#include "tui/page.h"
#include "tui/paint.h"
#include "tui/screen.h"
#include "tui/sparkline.h"
#include "tui/window_reader.h"

/* The purposes of keys. Bits, as keys may have a meaning in several. */
enum tui_mode {
	MODE_TABLE = 1,
	MODE_HELP = 2,
	MODE_INSPECTOR = 4,
	MODE_COLUMNS = 8,
	MODE_FILTER = 16,
	MODE_JUMP = 32,
	MODE_SEARCH = 64,
	MODE_INTERVAL = 128,
	MODE_SORT = 256,
};

struct tui {
	const struct screen_options *options;
	const struct screen_feed *feed;
	struct terminal terminal;
	enum tui_mode mode;

	/* The window with its rows, and how these are made. */
	struct window_reader *reader;
	struct model *model; /* the reader's; empty without a window */
	bool has_window;
	struct state_view view;
	uint64_t view_number;       /* one more with each change */
	struct state_filter filter; /* of the user, once there was one */
	struct history history;
	struct last_exits exits;

	/* The table. */
	struct column_choice columns;
	bool has_cgroups;  /* some row has another than the root */
	uint64_t selected; /* the line's id */
	/* The id of its thread, where it was of one alone: rows of it may be called otherwise, as
	 * in a tree that of its process is. */
	uint64_t selected_thread;
	bool has_selected, has_selected_thread;
	size_t selected_at; /* where it was last */
	size_t top;         /* the first line that is shown */
	bool follows;       /* the selected row stays in sight */
	bool is_paused;
	uint64_t interval_ns;

	/* What /proc says of the rows that are seen, and for which rows it was asked. */
	struct row_fact_set facts;
	struct row_question asked;
	struct {
		ARRAY(struct row_subject);
	} subjects, asked_subjects;

	/* Pages and prompts. */
	struct page page;
	struct screen_subject inspected; /* may have ended since; its names must not be used */
	char inspected_name[64];
	bool inspected_is_gone;
	bool is_split;         /* the inspector is below the table, and follows its selection */
	bool has_lower;        /* `inspected` is what it shows */
	struct page lower;     /* its page */
	size_t chosen;         /* in the list of columns (chooser_columns()) */
	struct line_edit edit; /* the filter, also when it is not being typed */
	struct line_edit jump, search, interval;

	/* What clicks hit, as last drawn. */
	struct tui_spot legend[BAR_STATES];
	struct key_hints hints;

	struct key_message message;

	bool is_over;
	struct screen_result result;
};

static inline bool tui_is_replay(const struct tui *tui)
{
	return tui->feed->step != NULL;
}

/* Say something in the last line, for some seconds. */
void tui_say(struct tui *tui, bool is_error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* After the view was changed: the same window in other rows. */
struct error *tui_list(struct tui *tui) MUST_CHECK;

/* Draw all. */
void tui_draw(struct tui *tui);

/* Lines of the screen that the head takes, and that are between it and the last one. */
int tui_head_lines(void);
int tui_body_lines(void);
/* Those of the table with its heading: of a split view the upper part; the rest is the inspector's.
 */
int tui_table_lines(const struct tui *tui);

/* --- the parts --- */

void header_draw(struct tui *tui, int columns);

void table_draw(struct tui *tui, int columns);
/* The grouping of the columns, and their layout. */
enum state_grouping table_grouping(const struct tui *tui);
void table_layout(const struct tui *tui, struct column_layout *layout, int columns);
/* The columns that were chosen, without those that would say nothing now, and with the one that
 * decides the order. */
struct column_choice table_columns(const struct tui *tui);
/* Ask for the facts that the columns show, of the rows that are seen; for that which decides the
 * order of all. */
void table_ask(struct tui *tui, int columns);
/* After each new list: where the selected line is now. */
void table_settle(struct tui *tui);
/* Move the selection by so many lines; from none to the first that is seen. */
void table_move(struct tui *tui, long by);
void table_scroll(struct tui *tui, long by);
/* The selected line, or NULL. */
const struct state_line *table_selected(const struct tui *tui);
/* Is it a whole process, and not a thread or another group? */
bool table_is_process(const struct tui *tui, const struct state_line *line);
/* A click there; true when the same row was selected before. */
struct error *table_click(struct tui *tui, int y, int x, bool *ret_again) MUST_CHECK;
struct error *table_sort_by(struct tui *tui, struct state_sort sort) MUST_CHECK;
/* Select the next row with this text in its name, from the selected one on, or after it. False:
 * there is none. */
bool table_search(struct tui *tui, const char *text, bool after);
/* Can rows of this grouping be sorted by the column? */
bool table_can_sort(const struct tui *tui, enum top_column column);
/* Sort by the next column, or the one before. */
struct error *table_sort_move(struct tui *tui, int by) MUST_CHECK;

struct error *help_open(struct tui *tui) MUST_CHECK;

void inspector_open(struct tui *tui);
/* Takes the page of the update. */
struct error *inspector_take(struct tui *tui, struct window_update *update) MUST_CHECK;
void inspector_close(struct tui *tui);
/* In a split view: inspect the selected row, if it is another. */
void inspector_follow(struct tui *tui);

void chooser_draw(struct tui *tui, int columns);
/* The columns of the list, of which `chosen` is one: those that rows can be sorted by, where that
 * is the question, else all. Returns how many there are. */
size_t chooser_columns(const struct tui *tui, enum top_column ret[TOP_COLUMN_COUNT]);

/* No filter any more. */
struct error *prompt_clear(struct tui *tui) MUST_CHECK;
void prompt_open(struct tui *tui, enum tui_mode mode);
/* A key, or a character of UTF-8. */
struct error *prompt_key(struct tui *tui, int key, struct text character) MUST_CHECK;
/* *ret_x is the column of the cursor. */
void prompt_draw(struct tui *tui, int y, int columns, int *ret_x);

extern const struct key_table tui_keys;

/* Do what is meant by all keys that were pressed. */
struct error *tui_read_keys(struct tui *tui) MUST_CHECK;

#endif
