/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of top, on the screen and in batches: a row each, from which options, sort keys,
 * files to read, cells and widths follow.
 */
#ifndef STATE_COLUMNS_H
#define STATE_COLUMNS_H

#include "base/text.h"
#include "state/state.h"

/*
 * COLUMN(id, head, source, name for programs, heading of reports, unit, order,
 *        least width, most, share of what is left, leaves, not in, align, on, prose)
 *
 * The id in lower case is the word of --columns and --sort; the head, in any case, will do, too.
 *
 * Source: WINDOW, what the engine measured; PROC, files of /proc, which are read only for rows that
 * are seen or sorted by it (state/row_facts.h); EXITS, the ends of processes (state/last_exits.h).
 * Those of the latter two are added to reports if they are asked for; of WINDOW reports have their
 * own columns (report/states_report.c).
 *
 * Order: OWN is a sort key of its own, the others share one with other columns. Of PROC, the
 * largest bytes, the lowest numbers and the first texts come first, and rows of equal values as by
 * ACTIVE.
 *
 * The higher `leaves`, the sooner a column leaves a narrow screen; 0 stays. `not in` has a bit for
 * each grouping whose rows lack it. Columns that are OFF are shown only if they are chosen, or
 * decide the order.
 */
#define BY(grouping) (1u << STATE_BY_##grouping)
/* clang-format off */
#define TOP_COLUMNS(COLUMN)                                                                        \
	COLUMN(TID, "TID", WINDOW, NULL, NULL, NUMBER, OWN,                                        \
	       7, 7, 0, 0, BY(CGROUP), RIGHT, ON, "its number; of groups, of their process")       \
	COLUMN(PID, "PID", WINDOW, NULL, NULL, NUMBER, OWN,                                        \
	       7, 7, 0, 2, BY(PROCESS) | BY(CGROUP), RIGHT, OFF, "the number of its process")      \
	COLUMN(HOST, "HOST", WINDOW, NULL, NULL, TEXT, OWN,                                        \
	       8, 24, 2, 0, 0, LEFT, OFF, "its host, in replays of several")                       \
	COLUMN(THREADS, "THR", WINDOW, NULL, NULL, NUMBER, OWN,                                    \
	       4, 4, 0, 3, BY(THREAD), RIGHT, ON, "how many threads live")                         \
	COLUMN(NAME, "NAME", WINDOW, NULL, NULL, TEXT, OWN,                                        \
	       15, 44, 3, 0, 0, LEFT, ON, "its name, and that of its process")                     \
	COLUMN(USER, "OWNER", WINDOW, NULL, NULL, TEXT, OWN,                                       \
	       8, 12, 1, 8, BY(CGROUP), LEFT, ON, "whose it is")                                   \
	COLUMN(CGROUP, "CGROUP", WINDOW, NULL, NULL, TEXT, OWN,                                    \
	       14, 36, 2, 9, BY(CGROUP), LEFT, ON, "where it is accounted")                        \
	COLUMN(ACTIVE, "ACTIVE", WINDOW, NULL, NULL, NUMBER, AS_ACTIVE,                            \
	       7, 7, 0, 4, 0, RIGHT, ON,                                                           \
	       "threads in EXEC, RUNQ, PAGING, LOCK or DISK, on average")                          \
	COLUMN(CPU, "CPU%", WINDOW, NULL, NULL, NUMBER, OWN,                                       \
	       6, 6, 0, 2, 0, RIGHT, OFF, "run time, in % of one CPU")                             \
	COLUMN(STATES, "STATES", WINDOW, NULL, NULL, NUMBER, AS_STATE,                             \
	       14, 80, 6, 0, 0, LEFT, ON, "all states as a bar, or in %")                          \
	COLUMN(NOW, "NOW FOR", WINDOW, NULL, NULL, NUMBER, OWN,                                    \
	       12, 12, 0, 5, 0, LEFT, ON,                                                          \
	       "what it is in the middle of, and for how long, or longer (>)")                     \
	COLUMN(SWITCHES, "SW/s", WINDOW, NULL, NULL, NUMBER, OWN,                                  \
	       5, 5, 0, 6, 0, RIGHT, ON, "times it left a CPU, a second")                          \
	COLUMN(MEMORY, "MEM", PROC, "memory_bytes", "memory", BYTES, OWN,                          \
	       5, 5, 0, 2, BY(CGROUP), RIGHT, OFF, "memory of its process (resident set)")         \
	COLUMN(PRIORITY, "PRI", PROC, "priority", "pri", NUMBER, OWN,                              \
	       4, 4, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF,                                      \
	       "priority: 20 + nice; real time below 0")                                           \
	COLUMN(NICE, "NI", PROC, "nice", "nice", NUMBER, OWN,                                      \
	       3, 3, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF, "nice")                              \
	COLUMN(READ, "READ/s", PROC, "read_bytes_per_s", "read/s", BYTES, OWN,                     \
	       7, 7, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF, "bytes read from storage, a second") \
	COLUMN(WRITE, "WRITE/s", PROC, "write_bytes_per_s", "write/s", BYTES, OWN,                 \
	       7, 7, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF,                                      \
	       "bytes written to storage, a second")                                               \
	COLUMN(RCHAR, "RCHAR/s", PROC, "rchar_per_s", "rchar/s", BYTES, OWN,                       \
	       7, 7, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF,                                      \
	       "bytes read, a second: also from the page cache, pipes, sockets")                   \
	COLUMN(WCHAR, "WCHAR/s", PROC, "wchar_per_s", "wchar/s", BYTES, OWN,                       \
	       7, 7, 0, 2, BY(CGROUP) | BY(POOL), RIGHT, OFF,                                      \
	       "bytes written, a second: also to the page cache, pipes, sockets")                  \
	COLUMN(ENDED, "ENDED/s", WINDOW, NULL, NULL, NUMBER, OWN,                                  \
	       7, 7, 0, 2, 0, RIGHT, OFF, "threads that ended, a second")                          \
	COLUMN(EXIT, "EXIT", EXITS, "last_exit", "last exit", TEXT, OWN,                           \
	       15, 15, 0, 2, 0, LEFT, OFF, "how a process of this name in its cgroup ended last")  \
	COLUMN(HISTORY, "HISTORY", WINDOW, NULL, NULL, NUMBER, AS_ACTIVE,                          \
	       8, 30, 2, 7, 0, LEFT, ON, "ACTIVE in the last windows")                             \
	COLUMN(COMMAND, "COMMAND", PROC, "command", "command", TEXT, OWN,                          \
	       16, 100, 6, 2, BY(CGROUP), LEFT, OFF, "the command line of its process")
/* clang-format on */

enum top_column {
#define TOP_COLUMN_ENUM(id, ...) TOP_COLUMN_##id,
	TOP_COLUMNS(TOP_COLUMN_ENUM)
#undef TOP_COLUMN_ENUM
		TOP_COLUMN_STATE_FIRST, /* one for each state, in % */
	TOP_COLUMN_COUNT = TOP_COLUMN_STATE_FIRST + STATE_COUNT
};

/* The largest first, but for names, numbers of threads, and as TOP_COLUMNS says. What is equal is
 * in the order of ids, always. What is not known comes last. */
enum state_sort_key {
	STATE_SORT_ACTIVE, /* state_line_active(): what is of interest first */
	STATE_SORT_BUSY,   /* state_line_busy(), ties by storage: the order of rows for programs */
	STATE_SORT_STATE,  /* share of one state */
/*
 * NOW: the longest wait in progress; those for work come after all others. USER: by number. CGROUP:
 * of the thread that stands for the line. CPU: run time of all of its threads. EXIT: the last end.
 * HOST: by number, as their names are ordered.
 */
#define SORT_KEY_OWN(id) STATE_SORT_##id,
#define SORT_KEY_AS_ACTIVE(id)
#define SORT_KEY_AS_STATE(id)
#define SORT_KEY(id, head, source, name, heading, unit, order, ...) SORT_KEY_##order(id)
	TOP_COLUMNS(SORT_KEY)
#undef SORT_KEY
#undef SORT_KEY_OWN
#undef SORT_KEY_AS_ACTIVE
#undef SORT_KEY_AS_STATE
		STATE_SORT_COUNT
};

enum column_source { COLUMN_FROM_WINDOW, COLUMN_FROM_PROC, COLUMN_FROM_EXITS };
enum column_unit { COLUMN_IN_NUMBER, COLUMN_IN_BYTES, COLUMN_IN_TEXT };

struct column_row {
	const char *word; /* in upper case, but for states */
	const char *head, *prose;
	const char *name, *heading; /* in reports; NULL: theirs */
	enum column_source source;
	enum column_unit unit;
	enum state_sort_key key;
	unsigned least, most, share, leaves;
	unsigned not_in; /* a bit for each grouping */
	bool is_right;   /* aligned so */
	bool is_on;      /* unless the user chose otherwise */
};
extern const struct column_row column_rows[TOP_COLUMN_COUNT];

/* Its word as it is printed: in lower case. */
#define COLUMN_WORD_MAX 24
char *column_word(enum top_column column, char buffer[COLUMN_WORD_MAX]);

/* The column of a word or a head, in any case; TOP_COLUMN_COUNT: there is none. */
enum top_column column_find(struct text word);

/* The first column that rows are sorted by with this key; TOP_COLUMN_COUNT: none shows it. */
enum top_column column_of_key(enum state_sort_key key, enum state state);

#endif
