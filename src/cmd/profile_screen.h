/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --tui: a flame graph on the terminal (tui/flame_screen.h) in place of a report.
 */
#ifndef CMD_PROFILE_SCREEN_H
#define CMD_PROFILE_SCREEN_H

#include "cmd/profile_output.h"
#include "tui/flame_screen.h"

/* Can --tui be with the other options? */
struct error *profile_screen_check(const struct profile_output *output) MUST_CHECK;

/* The screen of `title` that shows classes of time (a bit for each), in `group` first. */
struct flame_screen_options profile_screen_options(const struct profile_output *output,
						   const char *title, unsigned classes,
						   enum flame_group group);

/* Show a profile that does not change, whose frames have names, until the user leaves. `group` is
 * that of the first view. */
struct error *profile_screen_show(const struct profile_output *output, enum flame_group group,
				  const struct profile *profile) MUST_CHECK;

#endif
