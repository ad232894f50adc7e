/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --tui: a flame graph on the terminal (tui/flame_screen.h) rather than a report.
 */
#ifndef CMD_PROFILE_SCREEN_H
#define CMD_PROFILE_SCREEN_H

#include "cmd/profile_output.h"
#include "tui/flame_screen.h"

/* An error if --tui cannot be combined with the other options. */
struct error *profile_screen_check(const struct profile_output *output) MUST_CHECK;

/* Options for a screen with this title. `classes` has a bit for each class of time that it may
 * show; `group` is the first grouping. */
struct flame_screen_options profile_screen_options(const struct profile_output *output,
						   const char *title, unsigned classes,
						   enum flame_group group);

/* After the screen was closed: print on standard error why settings were not kept, if they were
 * not. */
void profile_screen_print_end(const struct flame_screen_end *end);

/* Show a saved profile, whose frames have names, until the user leaves. `group` is the first
 * grouping. */
struct error *profile_screen_show(const struct profile_output *output, enum flame_group group,
				  const struct profile *profile) MUST_CHECK;

#endif
