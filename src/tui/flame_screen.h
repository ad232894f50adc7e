/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The screen of a flame graph: of a profile that grows, or of a file.
 *
 *	struct flame_feed feed = { .borrow = lend, .give_back = take, .context = profile };
 *	struct error *err = flame_screen_run(&options, &feed, &end);
 *
 * The screen makes the tree of a profile that it borrows, and makes it again whenever there is news
 * or another view is wanted. What is selected and zoomed into are paths of names, which are found
 * again in each tree.
 */
#ifndef TUI_FLAME_SCREEN_H
#define TUI_FLAME_SCREEN_H

#include "profile/flame.h"

/* How the readings of a profile that grows are added up. */
enum flame_sum {
	FLAME_SUM_ALL,   /* all since the start, or since it was begun anew */
	FLAME_SUM_DECAY, /* all, halved each half-life */
	FLAME_SUM_LAST,  /* the last reading alone */
	FLAME_SUM_COUNT
};

struct flame_news {
	char waits_for[80]; /* there is nothing to show yet, and why; "" otherwise */
	char problem[120];  /* what is missing in the profile, as what was lost; or "" */
	char ended[80];     /* nothing more will come, and why; or "" */
	uint64_t ns;        /* the time that was profiled */
	uint64_t half_life_ns;
};

struct flame_feed {
	int news; /* a descriptor that is readable when there is another profile; -1: never */
	/* Empties `news`. The profile stays as it is until it is given back; NULL: there is none
	 * yet. An error ends the screen. */
	struct error *(*borrow)(void *context, const struct profile **ret, struct flame_news *news);
	void (*give_back)(void *context);
	/* Of a profile that grows; NULL of others. Freezing leaves the profile as it is now, and
	 * goes on collecting. */
	void (*freeze)(void *context, bool is_frozen);
	void (*begin_anew)(void *context);
	void (*sum_up)(void *context, enum flame_sum sum);
	void *context;
};

struct flame_screen_options {
	const char *title;  /* "ctprof profile" */
	const char *target; /* what is shown, as a file; NULL: what the profile says */
	struct flame_view view;
	unsigned classes;    /* that may be shown: a bit for each enum profile_class */
	bool shows_idle;     /* else idle waits are left out of profiles of a whole host */
	const char *instead; /* what to do without a terminal: "leave out --tui" */
	bool no_colour;
};

struct flame_screen_end {
	int signal;       /* that ended it; 0: the user left it */
	char unkept[160]; /* that what the user chose (tui/flame_settings.h) is not kept; or "" */
};

/* Until the user leaves it, or a signal ends it. The terminal is that of standard output and
 * input. */
struct error *flame_screen_run(const struct flame_screen_options *options,
			       const struct flame_feed *feed,
			       struct flame_screen_end *ret) MUST_CHECK;

#endif
