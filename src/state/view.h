/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which rows of a window somebody wants to see, and in which order.
 *
 *	struct state_view view = { .rows = STATE_BY_PROCESS, .sort = { .key = STATE_SORT_STATE,
 *			.state = STATE_RUNNABLE } };
 *	state_view_filter(&view, TEXT("nginx state:lock"));
 *	state_list_make(&list, &window, &view);
 *
 * A filter is terms with spaces between; a row must meet all of them. A term is a glob, or a part of
 * a name of the thread or its process; "user:", "cgroup:", "state:" and "pid:" before it say what else
 * is meant. "a|b" is either. "state:lock" wants some time in it, or a thread that is in it now.
 */
#ifndef STATE_VIEW_H
#define STATE_VIEW_H

#include "base/text.h"
#include "state/window.h"

enum state_grouping {
	STATE_BY_THREAD,
	STATE_BY_PROCESS,
	STATE_BY_CGROUP,
	STATE_BY_POOL, /* threads of a process whose names are of one pattern: "worker-{N}" */
	STATE_GROUPINGS
};
extern const char *const state_grouping_names[STATE_GROUPINGS];

enum state_sort_key {
	STATE_SORT_BUSY,     /* time in latency states and exec: what is of interest first */
	STATE_SORT_STATE,    /* share of one state */
	STATE_SORT_NAME,
	STATE_SORT_TID,
	STATE_SORT_PROGRESS, /* longest wait in progress */
	STATE_SORT_SWITCHES,
	STATE_SORT_THREADS,
	STATE_SORT_KEYS
};

struct state_sort {
	enum state_sort_key key;
	enum state state; /* of STATE_SORT_STATE: a main one or a part */
	bool reverse;
};

/* "busy", "name", "tid", "wait", "switches", "threads", or the name of a state; a "-" before it
 * reverses. */
struct error *state_sort_parse(struct text text, struct state_sort *ret) MUST_CHECK;

#define STATE_TERMS_MAX 16

enum state_term_kind { STATE_TERM_NAME, STATE_TERM_USER, STATE_TERM_CGROUP, STATE_TERM_STATE,
		       STATE_TERM_PID };

struct state_term {
	enum state_term_kind kind;
	struct text alternatives; /* with "|" between */
};

struct state_filter {
	char bytes[256]; /* what the terms are slices of */
	struct state_term terms[STATE_TERMS_MAX];
	size_t count;
};

/* Errors name the term. An empty text filters nothing. */
struct error *state_filter_parse(struct text text, struct state_filter *ret) MUST_CHECK;

struct state_view {
	enum state_grouping grouping;
	struct state_sort sort;
	const struct state_filter *filter; /* NULL: none */
	bool no_kernel;                    /* threads of the kernel are left out */
	bool is_tree;                      /* threads below their processes */
	/* The name of a user; NULL: numbers stand for them. */
	const char *(*user_name)(void *context, uint32_t uid);
	void *context;
};

/* A row of the list: one thread, or several. */
struct state_line {
	uint64_t id; /* the same in the next window: a selection stays on it */
	const struct state_thread *thread; /* the one, or the one that stands for all */
	const struct name *label; /* of its group: name, path or pattern */
	uint32_t threads;         /* that live; 0: all have ended */
	uint32_t ended;           /* in the window */
	uint32_t depth;           /* in a tree */
	uint64_t window_ns;       /* the sum over its threads */
	struct state_times times;
	enum state in_progress;  /* of the longest wait in progress */
	uint64_t in_progress_ns; /* 0: none */
	uint64_t switches;
};

struct state_list {
	struct {
		ARRAY(struct state_line);
	} lines;
	struct state_line total; /* of all that were not filtered */
	/* Memory of groups, and their labels, which live as long as the list. */
	struct arena arena;
	struct names names;
};

void state_list_init(struct state_list *list);
void state_list_deinit(struct state_list *list);

/* The window must outlive the list. */
struct error *state_list_make(struct state_list *list, const struct state_window *window,
			      const struct state_view *view) MUST_CHECK;

/* Of its window, in a main state or a part: 0 to 1. */
double state_line_share(const struct state_line *line, enum state state);

#endif
