/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks on the screen: texts, bars and sparklines, in styles, from left to right.
 *
 *	struct pen pen = pen_at(&terminal, 0, 0, width);
 *	pen_print(&pen, STYLE_STRONG, "%u CPUs", cpus);
 *	pen_bar(&pen, &times, window_ns, 20);
 *
 * A pen never leaves its line: what does not fit is cut.
 */
#ifndef TUI_PAINT_H
#define TUI_PAINT_H

#include "state/reading.h"
#include "tui/fit.h"
#include "tui/terminal.h"

enum style {
	STYLE_PLAIN,
	STYLE_DIM,    /* less important than others: zeros, labels */
	STYLE_STRONG, /* the most important values */
	STYLE_HEAD,   /* of a table */
	STYLE_SORTED, /* the head of the column that decides the order */
	STYLE_ERROR,
	STYLE_STATE, /* and on: of a state, STYLE_OF(state) */
};
#define STYLE_OF(state) ((enum style)(STYLE_STATE + (state)))

enum align { ALIGN_LEFT, ALIGN_RIGHT };

struct pen {
	const struct terminal *terminal;
	int y, x, end;
	bool is_selected; /* what follows is on the selected row */
};

/* The size of the terminal. */
void paint_size(int *ret_lines, int *ret_columns);
void paint_begin(void);
/* With a cursor there, or none where `y` is negative. */
void paint_end(int y, int x);

static inline struct pen pen_at(const struct terminal *terminal, int y, int x, int end)
{
	return (struct pen){ .terminal = terminal, .y = y, .x = x, .end = end };
}

void pen_text(struct pen *pen, enum style style, struct text text);
void pen_print(struct pen *pen, enum style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* In just so many columns. */
void pen_field(struct pen *pen, enum style style, struct text text, unsigned width,
	       enum align align, enum fit_end end);

/* Spaces up to this column. */
void pen_skip(struct pen *pen, enum style style, int x);

/* Letters are in bars where there are no blocks, or no colours to tell blocks apart. */
bool pen_has_blocks(const struct pen *pen);

/* The parts of bars: the main states, of which SLEEP is without what is a part of its own here.
 * Waits for storage have their own colour; those for a time are as faint as idle ones. */
#define BAR_STATES 9
extern const enum state bar_states[BAR_STATES];
uint64_t bar_state_ns(const struct state_times *times, enum state state);

/* `bar_states` as parts of a whole. */
void pen_bar(struct pen *pen, const struct state_times *times, uint64_t whole_ns, unsigned width);

/* The sample of the colour of one of `bar_states`. */
void pen_swatch(struct pen *pen, enum state state);

/* A box of a flame graph: its colour is that of a state. */
struct box_look {
	enum state state;
	bool is_kernel; /* a bit darker */
	bool is_note;   /* of no function: in no colour */
	bool is_selected, is_match;
};

/* `width` columns: a line at the left, where the box begins, and as much of the text as fits. */
void pen_box(struct pen *pen, struct box_look look, struct text text, unsigned width);
/* Text on such a box that is less important than its own. */
void pen_box_note(struct pen *pen, struct box_look look, struct text text);
/* So many columns of boxes that are too narrow to be drawn. */
void pen_narrow(struct pen *pen, unsigned width);

/* Levels as history_get() has them. */
void pen_spark(struct pen *pen, const uint8_t *levels, unsigned count);

#endif
