/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is shown of a profile whose frames have names: its flame graph as the options say, and the
 * text of it.
 *
 *	_cleanup_(profile_view) struct profile_view view;
 *	err = profile_view_init(&output, &report, true, &view);
 *	if (!err)
 *		err = profile_view_show(&output, &view, 0);
 *
 * Waits of idle threads would hide all others in a profile of the whole host: text leaves them out,
 * and pictures draw them as one frame (profile_view_fold()).
 */
#ifndef CMD_PROFILE_VIEW_H
#define CMD_PROFILE_VIEW_H

#include <stdio.h>

#include "cmd/profile_output.h"
#include "profile/idle.h"
#include "report/profile_text.h"

/* A profile whose frames have names, its flame graph, and what both refer to. */
struct profile_view {
	struct flame *flame;
	struct flame_view options;    /* of the flame graph */
	struct idle idle;             /* empty if no waits are left out */
	char *title;                  /* of pictures: the answer; NULL: the usual */
	struct profile_report report; /* points to `flame` and `title` */
};

/* The grouping of --group-by; without it that of text, or of files. */
enum flame_group profile_view_group(const struct profile_output *output,
				    const struct profile_report *report, bool is_text);

/* Text leaves out idle waits. `ret` must not be moved: its report points into it. Release it also
 * after an error. */
struct error *profile_view_init(const struct profile_output *output,
				const struct profile_report *report, bool is_text,
				struct profile_view *ret) MUST_CHECK;

/* The same flame graph with idle waits as one frame, for the caller; NULL: there are none. */
struct error *profile_view_fold(const struct profile_view *view, struct flame **ret) MUST_CHECK;

void profile_view_deinit(struct profile_view *view);
static inline void profile_view_guard(struct profile_view *view)
{
	profile_view_deinit(view);
}

/* Print the text in that style, with the commands to run next. */
struct error *profile_view_print(FILE *out, const struct profile_output *output,
				 const struct profile_view *view,
				 const struct profile_style *style) MUST_CHECK;

/* Print the text on standard output, as the terminal and the options say; through a pager, unless
 * it is that of an interval. */
struct error *profile_view_show(const struct profile_output *output,
				const struct profile_view *view, unsigned interval) MUST_CHECK;

#endif
