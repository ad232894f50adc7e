/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The screen of `ctprof top`: windows of thread states on a terminal, and keys.
 *
 *	struct screen_feed feed = { .next = read_window, .context = engine };
 *	struct error *err = screen_run(&options, &feed);
 *
 * The screen knows neither engines nor recordings: a feed reads these, in another thread. So keys
 * have their effect at once, whatever is being read, and shorten no window. However the screen ends
 * (by an error, a signal or a crash), the terminal is restored.
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include <stdio.h>

#include "state/view.h"
#include "tui/columns.h"
#include "tui/settings.h"

/* The head of the screen; numbers that are not known are negative. */
struct screen_host {
	unsigned cpus;
	double load[3];
	double psi[3];                            /* some avg10 of cpu, memory, io, in percent */
	uint64_t memory_used_bytes, memory_bytes; /* of the host; 0: not known */
	const char *engine;                       /* its name, or NULL */
	double cost;                              /* of it, in percent of one CPU */
	const char *note;    /* what else should be known, as "paused", or NULL */
	const char *problem; /* what is wrong, or NULL */
	const char *target;  /* what was asked for, as "process 17 (bash)"; outlives the screen */
	/* The number of the window in a replay, from 1 on, and how many there are; 0: no replay. */
	size_t window, windows;
};

/* A row to inspect. */
struct screen_subject {
	enum state_grouping grouping; /* of the row; STATE_BY_THREAD for one thread */
	uint64_t line;                /* the id of the thread, or of the group's line */
	struct state_thread thread;   /* the thread, or that of the group; as last read */
	/* The threads of a group's row. Set by the thread of the feed. */
	const struct state_view *view;
};

/* Of more rows no facts are known. */
#define SCREEN_SUBJECTS_MAX 4096

/* All of these are called in one thread, which is not the caller's. */
struct screen_feed {
	/* The window that ends now, or that a replay is at. The window and all in it live until the
	 * next call. */
	struct error *(*next)(void *context, struct state_window *ret, struct screen_host *host);
	/* Called several times per window, for feeds that must read more often; may be NULL. */
	struct error *(*tick)(void *context);
	/* Everything that is known of a row, as lines of text; may be NULL. */
	struct error *(*inspect)(void *context, const struct screen_subject *subject, FILE *out);
	/* Called when no row is inspected any more; may be NULL. */
	void (*look_away)(void *context);
	/* The facts of these rows, of those that `wanted` has a bit for, as of the last window;
	 * fills `ret`, of `count`. May be NULL: nothing is known. */
	void (*facts)(void *context, unsigned wanted, const struct row_subject *subjects,
		      size_t count, struct row_facts *ret);
	/* Replay: go so many windows forth or back, false where there is none; may be NULL. */
	bool (*step)(void *context, int by);
	/* Replay: go to this time, as people write it ("12:30", "-5m"); may be NULL. */
	struct error *(*jump)(void *context, const char *to);
	void *context;
};

struct screen_result;

struct screen_options {
	/* To start with; its filter is not looked at. The thread of the feed asks it for names of
	 * users, which must live as long as the screen. */
	struct state_view view;
	const char *columns;  /* as --columns has them; NULL: the usual ones */
	const char *filter;   /* to start with, as it is typed; NULL: none */
	uint64_t interval_ns; /* between windows */
	/* What was chosen in an earlier run, in place of the above; NULL: nothing. */
	const struct screen_settings *settings;
	const char *note; /* to say at the begin; NULL or "": nothing */
	bool no_colour, no_utf8;
	bool no_mouse;
	/* How a screen before was left: this one continues with its rows and columns. */
	const struct screen_result *again;
};

/* The action after the screen is left. */
enum screen_exit { SCREEN_QUIT, SCREEN_PROFILE };
struct screen_result {
	enum screen_exit exit;
	/* SCREEN_PROFILE only: the selected thread, or the one that represents its group; the
	 * process, for a row that is one; for one of a cgroup also its path, as the feed's windows
	 * have it; for one of a pool also the id of its line. */
	uint32_t tid;
	bool is_process, is_pool;
	const struct name *cgroup; /* else NULL */
	uint64_t pool;
	int signal; /* that ended it, where one did; else 0 */
	/* What was displayed. */
	struct state_view view; /* without its filter */
	char filter[256];
	struct column_choice columns;
	uint64_t interval_ns;
	bool is_split;
	/* What of it the user changed by keys. */
	bool has_new_columns, has_new_sort, has_new_interval;
};

/* Until the user quits, or a signal ends it. The terminal is that of standard output and input. */
struct error *screen_run(const struct screen_options *options, const struct screen_feed *feed,
			 struct screen_result *ret) MUST_CHECK;

#endif
