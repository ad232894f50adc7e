/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared declarations of the screen of a flame graph (flame_screen.h).
 */
#ifndef TUI_FLAME_TUI_H
#define TUI_FLAME_TUI_H

#include "profile/reason.h"
#include "tui/flame_boxes.h"
#include "tui/flame_screen.h"
#include "tui/flame_settings.h"
#include "tui/flame_walk.h"
#include "tui/key_table.h"
#include "tui/line_edit.h"
#include "tui/page.h"

enum flame_mode {
	FLAME_MODE_GRAPH = 1,
	FLAME_MODE_FUNCTIONS = 2,
	FLAME_MODE_HELP = 4,
	FLAME_MODE_SEARCH = 8,
};

/* Which time is shown. */
enum flame_time { FLAME_TIME_WALL, FLAME_TIME_ON_CPU, FLAME_TIME_OFF_CPU, FLAME_TIME_COUNT };

struct flame_tui {
	const struct flame_screen_options *options;
	const struct flame_feed *feed;
	struct terminal terminal;
	unsigned mode;               /* enum flame_mode */
	enum flame_mode mode_before; /* that a prompt or the help is left to */

	/* The tree, and how it is made. */
	struct flame *flame; /* NULL: there is none */
	struct flame_news news;
	struct flame_view view;
	enum flame_time time;
	struct flame_settings settings;
	bool shows_idle, is_frozen, is_outdated;
	uint64_t by_reason[REASON_COUNT]; /* of what is shown */
	uint64_t idle_ns;                 /* that is left out */
	char target[160];                 /* what is profiled, as the profile says */

	/* Where in it. */
	struct flame_path selected_path, zoomed_path;
	uint32_t selected, zoomed;
	struct flame_rows rows; /* of the tree and the zoom */
	bool rows_are_old;      /* either has changed since */
	size_t top;             /* the first row that is seen */
	bool follows;           /* the selected box stays in sight */

	/* The list of functions. */
	struct flame_functions functions;
	size_t chosen, list_top;

	struct line_edit search;
	bool *matches; /* by face; NULL: nothing is searched for */
	uint64_t matched;

	struct page page; /* the help */
	struct key_hints hints;
	struct key_message message;
	int signal;
	bool is_over;
};

static inline bool flame_tui_grows(const struct flame_tui *tui)
{
	return tui->feed->freeze != NULL;
}

void flame_tui_say(struct flame_tui *tui, bool is_error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* --- what is shown --- */

/* Make the tree of the profile as it is now, by the view. */
struct error *flame_tui_make(struct flame_tui *tui) MUST_CHECK;
/* What the tree does not have but the screen: matches, functions. After either has changed. */
struct error *flame_tui_look(struct flame_tui *tui) MUST_CHECK;

/* Make the rows, if they are old: several keys may come before they are drawn. */
struct error *flame_tui_lay_out(struct flame_tui *tui) MUST_CHECK;

struct error *flame_tui_select(struct flame_tui *tui, uint32_t node) MUST_CHECK;
struct error *flame_tui_zoom(struct flame_tui *tui, uint32_t node) MUST_CHECK;

/* --- drawing --- */

int flame_head_lines(void);
/* The row of the graph at this line of the screen, which may be beyond the last; SIZE_MAX: it is no
 * line of the graph. */
size_t flame_row_at(const struct flame_tui *tui, int y);
/* Lines for rows, or functions. */
int flame_body_lines(void);
void flame_tui_draw(struct flame_tui *tui);

/* --- keys --- */

extern const struct key_table flame_keys;
struct error *flame_tui_read_keys(struct flame_tui *tui) MUST_CHECK;

#endif
