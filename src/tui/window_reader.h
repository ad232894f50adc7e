/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that reads windows, makes their rows, and inspects threads, beside the screen: this may
 * take longer than a key may wait for its effect.
 *
 *	struct window_reader *reader;
 *	err = window_reader_open(&feed, &view, interval_ns, &reader);
 *	while (...) {
 *		wait until window_reader_fd(reader) is readable, or a key is pressed
 *		window_reader_take(reader, &update);
 *		draw window_reader_model(reader)
 *	}
 *	window_reader_close(reader);
 *
 * That thread makes all calls of the feed, the first of them after window_reader_open. The screen
 * stores requests, which the thread executes in its turn; the screen takes the latest finished
 * result. There are three models: the screen's, the thread's, and a finished one that the screen
 * has not taken. They are exchanged under a lock that both hold only for the exchange, so neither
 * waits for the work of the other.
 */
#ifndef TUI_WINDOW_READER_H
#define TUI_WINDOW_READER_H

#include "tui/line_edit.h"
#include "tui/model.h"

struct window_reader;

/* Start the thread. A window ends each `interval_ns` from now on, whatever keys are pressed. A
 * replay, whose feed has `step`, has its first window at once. `feed` must outlive the reader; the
 * view is copied. */
struct error *window_reader_open(const struct screen_feed *feed, const struct state_view *view,
				 uint64_t interval_ns, struct window_reader **ret) MUST_CHECK;

/* Waits for the call of the feed in progress. Takes NULL. */
void window_reader_close(struct window_reader *reader);

/* --- updates --- */

/* Readable when there is an update. */
int window_reader_fd(const struct window_reader *reader);

struct window_update {
	struct error *err; /* of the feed, which has ended; the taker owns it */
	bool has_window;   /* window_reader_model has changed */
	bool has_paused;   /* the replay stepped, jumped, or reached its end */
	/* With `has_page`: the page of the row with the id `page_of`. The taker frees it. NULL: the
	 * row has ended, and its last page stays. */
	bool has_page, has_ended;
	uint64_t page_of;
	char *page;
	/* The facts that were asked for, of so many rows. The taker frees them. */
	struct row_facts *facts;
	size_t fact_count;
	char message[160]; /* to show, or "" */
	bool message_is_error;
};

/* Take what has changed since the last call. */
void window_reader_take(struct window_reader *reader, struct window_update *ret);

/* The model that was taken last; empty before the first. It is valid until the next
 * window_reader_take with `has_window`. */
struct model *window_reader_model(struct window_reader *reader);

/* --- requests --- */

/* Later windows have rows by this view. Their model has `number`, which tells it from one that was
 * finished before. */
void window_reader_show(struct window_reader *reader, const struct state_view *view,
			uint64_t number);

/* Make no windows; the first one afterwards covers all the time since the last one. A window that
 * is being made is taken after the pause. */
void window_reader_pause(struct window_reader *reader, bool is_paused);

/* The next window ends so long after the last one. */
void window_reader_set_interval(struct window_reader *reader, uint64_t interval_ns);

/* Replay only. Several steps are made one by one. */
void window_reader_step(struct window_reader *reader, int by);
void window_reader_jump(struct window_reader *reader, const char *to);

/* Which facts are to be read: bits. */
struct row_question {
	unsigned facts; /* of the first `seen` rows */
	unsigned order; /* of all; also in `facts` */
	size_t seen, count;
};

/* Read facts of these rows now, at least one and at most SCREEN_SUBJECTS_MAX, which are copied;
 * only those asked for last are read. False without memory. */
bool window_reader_ask(struct window_reader *reader, const struct row_question *question,
		       const struct row_subject *subjects) MUST_CHECK;

/* Inspect this row now, and after each window; NULL: no row. */
void window_reader_inspect(struct window_reader *reader, const struct screen_subject *subject);

#endif
