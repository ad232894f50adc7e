/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of the table: a row each. Which are shown is the user's choice, and the terminal's
 * width: those that matter less leave first.
 */
#ifndef TUI_COLUMNS_H
#define TUI_COLUMNS_H

#include "state/row_facts.h"
#include "tui/paint.h"

struct tui;

/*
 * TOP_COLUMN(id, head, least width, most, share of what is left, leaves, not in, align, on, order,
 * prose)
 *
 * The higher `leaves`, the sooner a column leaves; 0 stays. `not in` has a bit for each grouping.
 * Columns that are OFF are shown only if they are chosen. The order is what the list can be sorted
 * by, NONE for nothing.
 */
#define BY(grouping) (1u << STATE_BY_##grouping)
#define TOP_COLUMNS(TOP_COLUMN)                                                              \
	TOP_COLUMN(TID, "TID", 7, 7, 0, 0, BY(CGROUP), RIGHT, ON, TID,                       \
		   "its number; of groups, of their process")                                \
	TOP_COLUMN(PID, "PID", 7, 7, 0, 2, BY(PROCESS) | BY(CGROUP), RIGHT, OFF, PID,        \
		   "the number of its process")                                              \
	TOP_COLUMN(THREADS, "THR", 4, 4, 0, 3, BY(THREAD), RIGHT, ON, THREADS,               \
		   "how many threads live")                                                  \
	TOP_COLUMN(NAME, "NAME", 15, 44, 3, 0, 0, LEFT, ON, NAME,                            \
		   "its name, and that of its process")                                      \
	TOP_COLUMN(USER, "OWNER", 8, 12, 1, 8, BY(CGROUP), LEFT, ON, USER, "whose it is")    \
	TOP_COLUMN(CGROUP, "CGROUP", 14, 36, 2, 9, BY(CGROUP), LEFT, ON, CGROUP,             \
		   "where it is accounted")                                                  \
	TOP_COLUMN(ACTIVE, "ACTIVE", 7, 7, 0, 4, 0, RIGHT, ON, ACTIVE,                       \
		   "threads in EXEC, RUNQ, PAGING, LOCK or DISK, on average")                \
	TOP_COLUMN(CPU, "CPU%", 6, 6, 0, 2, 0, RIGHT, OFF, CPU, "run time, in % of one CPU") \
	TOP_COLUMN(STATES, "STATES", 14, 80, 6, 0, 0, LEFT, ON, STATE,                       \
		   "all states as a bar, or in %")                                           \
	TOP_COLUMN(NOW, "NOW FOR", 12, 12, 0, 5, 0, LEFT, ON, PROGRESS,                      \
		   "what it is in the middle of, and for how long, or longer (>)")           \
	TOP_COLUMN(SWITCHES, "SW/s", 5, 5, 0, 6, 0, RIGHT, ON, SWITCHES,                     \
		   "times it left a CPU, a second")                                          \
	TOP_COLUMN(MEMORY, "MEM", 5, 5, 0, 2, BY(CGROUP), RIGHT, OFF, NONE,                  \
		   "memory of its process (resident set)")                                   \
	TOP_COLUMN(PRIORITY, "PRI", 4, 4, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF, NONE,     \
		   "priority: 20 + nice; real time below 0")                                 \
	TOP_COLUMN(NICE, "NI", 3, 3, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF, NONE, "nice")  \
	TOP_COLUMN(READ, "READ/s", 7, 7, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF, NONE,      \
		   "bytes read from storage, a second")                                      \
	TOP_COLUMN(WRITE, "WRITE/s", 7, 7, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF, NONE,    \
		   "bytes written to storage, a second")                                     \
	TOP_COLUMN(RCHAR, "RCHAR/s", 7, 7, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF, NONE,    \
		   "bytes read, a second: also from the page cache, pipes, sockets")         \
	TOP_COLUMN(WCHAR, "WCHAR/s", 7, 7, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF, NONE,    \
		   "bytes written, a second: also to the page cache, pipes, sockets")        \
	TOP_COLUMN(ENDED, "ENDED/s", 7, 7, 0, 2, 0, RIGHT, OFF, ENDED,                       \
		   "threads that ended, a second")                                           \
	TOP_COLUMN(EXIT, "EXIT", 15, 15, 0, 2, 0, LEFT, OFF, NONE,                           \
		   "how a process of this name in its cgroup ended last")                    \
	TOP_COLUMN(HISTORY, "HISTORY", 8, 30, 2, 7, 0, LEFT, ON, NONE,                       \
		   "ACTIVE in the last windows")                                             \
	TOP_COLUMN(COMMAND, "COMMAND", 16, 100, 6, 2, BY(CGROUP), LEFT, OFF, NONE,           \
		   "the command line of its process")

enum tui_column {
#define TUI_COLUMN_ENUM(id, ...) TUI_COLUMN_##id,
	TOP_COLUMNS(TUI_COLUMN_ENUM)
#undef TUI_COLUMN_ENUM
		TUI_COLUMN_STATE_FIRST, /* one for each state, in % */
	TUI_COLUMN_COUNT = TUI_COLUMN_STATE_FIRST + STATE_COUNT
};

struct column_row {
	const char *word; /* in --columns, in any case; the head will do, too */
	const char *head, *prose;
	unsigned least, most, share, leaves;
	unsigned not_in;
	enum align align;
	bool is_on; /* unless the user chose otherwise */
	enum state_sort_key key;
	void (*draw)(const struct tui *tui, struct pen *pen, const struct state_line *line,
		     enum tui_column column, unsigned width);
};
extern const struct column_row column_rows[TUI_COLUMN_COUNT];

struct column_choice {
	bool is_on[TUI_COLUMN_COUNT];
	enum tui_column order[TUI_COLUMN_COUNT]; /* all, from left to right */
	bool numbers;                            /* main states in % instead of the bar */
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

/* The facts of rows (state/row_facts.h) that a column shows: a bit, or 0. */
unsigned column_facts(enum tui_column column);
/* Of all that were chosen. */
unsigned column_choice_facts(const struct column_choice *choice);

/* Is it to be there, if there is room? */
bool column_is_wanted(const struct column_choice *choice, enum state_grouping grouping,
		      enum tui_column column);

/* The positions of columns. */
struct column_layout {
	struct column_place {
		enum tui_column column;
		int x;
		unsigned width;
	} places[TUI_COLUMN_COUNT];
	size_t count;
};

void column_layout_make(struct column_layout *layout, const struct column_choice *choice,
			enum state_grouping grouping, unsigned width);

bool column_layout_has(const struct column_layout *layout, enum tui_column column);

/* Orders that a column stands for, from `first` on; 0 when there is none. */
#define TUI_COLUMN_SORTS_MAX (BAR_STATES + 1)
size_t column_sorts(enum tui_column column, struct state_sort ret[TUI_COLUMN_SORTS_MAX]);

static inline bool sort_is(struct state_sort a, struct state_sort b)
{
	return a.key == b.key && (a.key != STATE_SORT_STATE || a.state == b.state);
}

#endif
