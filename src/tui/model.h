/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data that the screen draws: a window, its rows, and other values of it.
 *
 *	struct model model;
 *	model_init(&model);
 *	err = model_fill(&model, &window, &host, &view);
 *	...
 *	err = model_list(&model, &other_view);		the same window in other rows
 *	model_deinit(&model);
 *
 * A model is a copy: another thread may read the next window meanwhile. Only names of threads and
 * users are shared; these do not change as long as the screen runs.
 */
#ifndef TUI_MODEL_H
#define TUI_MODEL_H

#include "base/word_map.h"
#include "state/view.h"
#include "tui/screen.h"

struct model {
	struct state_window window; /* of threads that are its own */
	struct {
		ARRAY(struct state_thread);
	} threads;
	struct screen_host host; /* its texts are these */
	char engine[40], note[80], problem[160];
	/* Names of all users that have a thread here; NULL: unknown. */
	struct word_map user_places;
	struct {
		ARRAY(const char *);
	} users;
	struct state_list list;
	uint64_t view_number; /* the view that the list was made for */
};

void model_init(struct model *model);
void model_deinit(struct model *model);

/* Copy the window, and make its rows by the view. This asks the view for names of users, and is all
 * that does. One that is used again keeps its memory. */
struct error *model_fill(struct model *model, const struct state_window *window,
			 const struct screen_host *host, const struct state_view *view) MUST_CHECK;

/* Make the rows anew. Some milliseconds, of ten thousand threads. */
struct error *model_list(struct model *model, const struct state_view *view) MUST_CHECK;

/* The name of a user, or NULL. */
const char *model_user_name(const struct model *model, uint32_t uid);

#endif
