/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selects, groups and orders the rows of a window.
 *
 *	struct state_filter filter;
 *	struct error *err = state_filter_parse(TEXT("nginx state:lock"), &filter);
 *	struct state_view view = { .grouping = STATE_BY_PROCESS, .filter = &filter,
 *				   .sort = { .key = STATE_SORT_STATE, .state = STATE_RUNNABLE } };
 *	state_list_init(&list);
 *	err = state_list_make(&list, &window, &view);
 *
 * A filter has terms (base/term.h, TERM_ANY_CASE) separated by spaces; rows consist of the threads
 * that match all of them. A term matches the name of the thread or of its process, or:
 *
 *	user:root     the user, by name or number
 *	cgroup:*.slice/nginx*
 *	state:lock    a state that the thread was in during the window, or is in now; also
 *	              lock_futex; "state:lock>50": for more than 50 % of the window, "<" for less
 *	pid:812       the threads of this process, or the thread with this number
 *	thread:io-1   the name of the thread only
 *	process:nginx the name of its process only
 *
 * "user:root|1000" is either of two; "!user:root" is all others. Another word before a colon is an
 * error; a name that begins with such a word is matched by a glob ("*main:*").
 */
#ifndef STATE_VIEW_H
#define STATE_VIEW_H

#include "base/text.h"
#include "state/columns.h"
#include "state/window.h"

enum state_grouping {
	STATE_BY_THREAD,
	STATE_BY_PROCESS,
	STATE_BY_CGROUP,
	STATE_BY_POOL, /* threads of a process whose names are of one pattern: "worker-{N}" */
	STATE_GROUPINGS
};
extern const char *const state_grouping_names[STATE_GROUPINGS];

struct state_sort {
	enum state_sort_key key;
	enum state state; /* of STATE_SORT_STATE: a main one or a part */
	bool reverse;
};

/* The word of a column, "busy", "wait" (of the column NOW), or the name of a state; a "-" before it
 * reverses. The error names the nearest of them. */
struct error *state_sort_parse(struct text text, struct state_sort *ret) MUST_CHECK;

/* The word of it, without the "-". */
const char *state_sort_word(struct state_sort sort, char buffer[COLUMN_WORD_MAX]);

/* The source of what rows are sorted by. Of WINDOW, a list needs nothing besides. */
enum column_source state_sort_source(struct state_sort sort);

struct row_fact_set;
struct last_exits;

#define STATE_TERMS_MAX 16

enum state_term_kind {
	STATE_TERM_USER,
	STATE_TERM_CGROUP,
	STATE_TERM_STATE,
	STATE_TERM_PID,
	STATE_TERM_THREAD,
	STATE_TERM_PROCESS,
	STATE_TERM_NAME /* of the thread or of its process: no word before it */
};

struct state_term {
	enum state_term_kind kind;
	bool is_negated;
	/* the number of strings, and the offset of the first in `bytes`; they are adjacent */
	uint16_t alternatives, at;
	unsigned states; /* of STATE_TERM_STATE: a bit for each that is meant */
	/* Of STATE_TERM_STATE: '>' or '<' this percentage of the window in all of these; 0: at all.
	 */
	char compares;
	double percent;
};

/* May be copied. */
struct state_filter {
	char bytes[256]; /* the texts of terms, each with a zero at its end */
	struct state_term terms[STATE_TERMS_MAX];
	size_t count;
};

/* Errors name the term, and the nearest word where one is wrong. An empty text filters nothing. */
struct error *state_filter_parse(struct text text, struct state_filter *ret) MUST_CHECK;

#define STATE_FOLDED_MAX 64

struct state_view {
	enum state_grouping grouping;
	struct state_sort sort;
	const struct state_filter *filter; /* NULL: none */
	bool no_kernel;                    /* threads of the kernel are left out */
	bool no_ended; /* no rows of those that have ended; in sums they are, as in the total */
	/* Threads below their groups; by thread: below their processes, of which those of a single
	 * thread are one line, the process's. */
	bool is_tree;
	bool no_folding; /* those have their thread below them, too */
	/* The ids of groups whose threads are not shown in a tree. */
	uint64_t folded[STATE_FOLDED_MAX];
	size_t folded_count;
	/* Where rows are sorted by what is not in the window: NULL is none, which is known of no
	 * row.
	 */
	const struct row_fact_set *facts; /* state/row_facts.h */
	const struct last_exits *exits;
	/* The name of a user; NULL: numbers stand for them. */
	const char *(*user_name)(void *context, uint32_t uid);
	void *context;
};

/* A row of the list: one thread, or several. */
struct state_line {
	uint64_t id; /* the same in the next window: a selection stays on it */
	/* The one, or the one that stands for all: the leader of a process while it lives, else
	 * the living one with the lowest tid. Of the total NULL. */
	const struct state_thread *thread;
	/* A thread's name, or its group's: name of the process, path of the cgroup ("-" when it is
	 * not known), "process:pattern" of a pool (of threads that share their process's name, and
	 * of threads of the kernel, one of both). Of the total NULL. */
	const struct name *label;
	uint32_t threads;   /* that live; 0: all have ended */
	uint32_t ended;     /* in the window */
	uint32_t depth;     /* in a tree */
	uint64_t window_ns; /* the sum over its threads */
	/* The time that its shares are of: `window_ns`, but at least the interval, unless one of
	 * its threads existed from beginning to end. */
	uint64_t whole_ns;
	uint64_t interval_ns; /* of the window that is shown */
	struct state_times times;
	enum state in_progress;    /* of the longest wait in progress, rather none for work */
	uint64_t in_progress_ns;   /* 0: none */
	bool in_progress_at_least; /* it began before watching did */
	uint64_t switches;
};

struct state_list {
	struct {
		ARRAY(struct state_line);
	} lines;
	struct state_line total; /* of all that were not filtered */
	/* Labels of groups, which live until the list is made again. */
	struct arena arena;
	struct names names;
};

void state_list_init(struct state_list *list);
void state_list_deinit(struct state_list *list);

/* The window must outlive the list. One that is made again keeps its memory; after an error it is
 * empty. */
struct error *state_list_make(struct state_list *list, const struct state_window *window,
			      const struct state_view *view) MUST_CHECK;

/* The line of a thread. */
struct state_line state_line_of(const struct state_window *window, const struct state_delta *delta);

/* Is it of one thread alone, whatever it is called? That is `thread` then. */
static inline bool state_line_is_one(const struct state_line *line)
{
	return line->threads + line->ended == 1;
}

/* The share of the interval in a main state or a part: 0 to 1. For a group it is a share of the
 * time of all its threads. The shares of a thread that began or ended in the interval add up to
 * less than 1. */
double state_line_share(const struct state_line *line, enum state state);

/* How many of its threads, on average over the interval, ran or were held up: exec, runnable,
 * paging, lock and sleep_disk. A thread that did nothing else is 1. */
double state_line_active(const struct state_line *line);

/* The same without sleep_disk. */
double state_line_busy(const struct state_line *line);

#endif
