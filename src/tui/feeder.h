/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows, their rows, and all that is known of a thread, made in a thread beside the screen: a key
 * must be answered while they are, which may take longer than anybody waits for a key.
 *
 *	struct feeder *feeder;
 *	err = feeder_open(&feed, &view, interval_ns, &feeder);
 *	while (...) {
 *		wait until feeder_fd(feeder) is readable, or a key is pressed
 *		feeder_take(feeder, &news);
 *		draw feeder_model(feeder)
 *	}
 *	feeder_close(feeder);
 *
 * All calls of the feed are made in that thread, the first of them after feeder_open. What the
 * screen wishes of it is noted, and done when it comes to that; what it has finished last is taken.
 * There are three models: the screen's, the thread's, and one that was finished and waits to be
 * taken. They change hands under a lock that nobody holds for longer than that, so neither waits
 * for the other.
 */
#ifndef TUI_FEEDER_H
#define TUI_FEEDER_H

#include "tui/line_edit.h"
#include "tui/model.h"

struct feeder;

/* A window ends each `interval_ns` from now on, whatever keys are pressed. A replay, whose feed has
 * `step`, begins with one. `feed` must stay; the view is copied. */
struct error *feeder_open(const struct screen_feed *feed, const struct state_view *view,
			  uint64_t interval_ns, struct feeder **ret) MUST_CHECK;

/* Waits for what is under way. Takes NULL. */
void feeder_close(struct feeder *feeder);

/* --- what was finished --- */

/* Readable when there is something to take. */
int feeder_fd(const struct feeder *feeder);

struct feeder_news {
	struct error *err; /* of the feed: there is nothing more to come; the taker's */
	bool has_window;   /* feeder_model is another one */
	bool has_paused;   /* by itself: it stepped or jumped, or has come to the end */
	/* Where `has_page`: the page of the row with the id `page_of`. It is allocated, and
	 * belongs to the receiver; NULL: the row has ended, and the last page stays. */
	bool has_page, has_ended;
	uint64_t page_of;
	char *page;
	char message[160]; /* to be said, or "" */
	bool message_is_error;
};

/* The update since the last call. */
void feeder_take(struct feeder *feeder, struct feeder_news *ret);

/* The one that was taken last; empty before the first. It is the taker's until the next one. */
struct model *feeder_model(struct feeder *feeder);

/* --- wishes --- */

/* Windows to come have rows by this view, and its number in their model: one that was finished
 * before has another. */
void feeder_show(struct feeder *feeder, const struct state_view *view, uint64_t number);

/* No windows; the next one has all that passed. One that was under way is taken when it goes on. */
void feeder_pause(struct feeder *feeder, bool is_paused);

/* Replay only. Steps are made one by one. */
void feeder_step(struct feeder *feeder, int by);
void feeder_jump(struct feeder *feeder, const char *to);

/* Tell all of this row now, and after each window; NULL: of none. */
void feeder_inspect(struct feeder *feeder, const struct screen_subject *subject);

#endif
