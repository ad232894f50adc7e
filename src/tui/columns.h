/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which columns (state/columns.h) the table has, and where. That is the user's choice, and the
 * terminal's width: those that matter less leave first.
 */
#ifndef TUI_COLUMNS_H
#define TUI_COLUMNS_H

#include "state/row_facts.h"
#include "tui/paint.h"

struct tui;

/* Draw the cell of a row; each column has a function. */
void column_draw(const struct tui *tui, struct pen *pen, const struct state_line *line,
		 enum top_column column, unsigned width);

struct column_choice {
	bool is_on[TOP_COLUMN_COUNT];
	enum top_column order[TOP_COLUMN_COUNT]; /* all, from left to right */
	bool numbers;                            /* main states in % instead of the bar */
	bool has_hosts;                          /* rows are of several: HOST is there */
};

void column_choice_init(struct column_choice *choice);

/* These columns in this order, and no others: "tid,name,active,lock,now"; or "default". The error
 * names the nearest column. */
struct error *column_choice_parse(struct text text, struct column_choice *ret) MUST_CHECK;

/* The same without words that are no columns, or are given again: *ret_unknown is the first of
 * them, where there is one, and *count is as many more. False: no column is left. */
bool column_choice_parse_known(struct text text, struct column_choice *ret,
			       struct text *ret_unknown, size_t *count);

bool column_choice_is_usual(const struct column_choice *choice);
/* The same columns in the same order. */
bool column_choice_is(const struct column_choice *a, const struct column_choice *b);

/* The facts of rows (state/row_facts.h) that the chosen columns show: a bit for each. */
unsigned column_choice_facts(const struct column_choice *choice);

/* Is it to be there, if there is room? */
bool column_is_wanted(const struct column_choice *choice, enum state_grouping grouping,
		      enum top_column column);

/* The positions of columns. */
struct column_layout {
	struct column_place {
		enum top_column column;
		int x;
		unsigned width;
	} places[TOP_COLUMN_COUNT];
	size_t count;
};

void column_layout_make(struct column_layout *layout, const struct column_choice *choice,
			enum state_grouping grouping, unsigned width);

bool column_layout_has(const struct column_layout *layout, enum top_column column);

/* Orders that a column stands for; at least one. */
#define COLUMN_SORTS_MAX (BAR_STATES + 1)
size_t column_sorts(enum top_column column, struct state_sort ret[COLUMN_SORTS_MAX]);

static inline bool sort_is(struct state_sort a, struct state_sort b)
{
	return a.key == b.key && (a.key != STATE_SORT_STATE || a.state == b.state);
}

#endif
