/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options that say how a profile is shown, the same in every command that has one; and showing
 * it.
 *
 *	struct profile_output output = { 0 };		filled by PROFILE_OUTPUT_OPTIONS
 *	struct error *err = profile_output_settle(&output);
 *	err = profile_output_show(&output, profile, NULL, 0);
 *	profile_output_deinit(&output);
 */
#ifndef CMD_PROFILE_OUTPUT_H
#define CMD_PROFILE_OUTPUT_H

#include <stdio.h>

#include "cli/options.h"
#include "cli/terminal.h"
#include "cmd/profile_flush.h"
#include "cmd/profile_next.h"
#include "profile/filter.h"
#include "profile/symbolise.h"
#include "report/profile_report.h"

struct profile_output {
	struct {
		ARRAY(const char *);
	} paths;
	const char *format; /* of all paths; NULL: by their ends */
	enum flame_group group_by;
	bool group_is_given;   /* else the tree of the text is by program, and pictures are not */
	struct filter *filter; /* NULL: nothing was asked for */
	struct {
		bool keeps, drops, presets;
	} filters; /* what it is made of */
	/* Reasons of --state; NULL: all. They are applied again once functions have names, since a
	 * name may show that a wait is for a lock (profile/lock_frames.h). */
	const struct reason_selection *states;
	bool offsets, no_inline, shows_idle, tui, quiet;
	size_t top; /* 0: the usual */
	bool all;
	const char *symfs;
	const char *file; /* the file that the profile was loaded from; NULL: none, or several */
	struct profile_asked asked; /* options of a profile that is taken now */
	bool is_elsewhere;  /* the profile may be of another host: its PIDs mean nothing here */
	bool reads_nothing; /* name no frames: that reads files */
	struct symbol_cache *symbols; /* names shared by intervals; NULL: there is one profile */
	/* The most files without names that was printed for an interval; NULL: there is one profile
	 */
	struct symbolise_left *told;
	struct flame_gate *gate;     /* judged when a difference is shown; NULL: no conditions */
	struct profile_flush *flush; /* write each interval here, in `format`; NULL: no --flush */
};

/* Is any output file in a format that keeps addresses without names? */
bool profile_output_has_raw(const struct profile_output *output);

/* The rows, for the table of a command whose arguments have a `struct profile_output output`. */
/* clang-format off */
#define PROFILE_OUTPUT_AT(arguments, member) offsetof(struct arguments, output.member)
#define PROFILE_OUTPUT_OPTIONS(arguments)                                                          \
	{ "output", 'o', "FILE", parse_output_path, PROFILE_OUTPUT_AT(arguments, paths),           \
	  "Write FILE instead of text, in the format of its suffix: .svg and .html are "           \
	  "flame graphs; .folded, .stacks, .speedscope.json and .pb.gz (pprof) are for "           \
	  "other tools; .json has everything; .raw is for ctprof flame. May be given "             \
	  "more than once; - is standard output, and requires --format.", NULL, OPTION_COMMON },           \
	{ "format", 0, "FORMAT", parse_string, PROFILE_OUTPUT_AT(arguments, format),               \
	  "The format of -o, regardless of the suffix; without -o, of standard output.",           \
	  profile_format_name, false },                                                            \
	{ "group-by", 0, "GROUP", parse_flame_group, PROFILE_OUTPUT_AT(arguments, group_by),       \
	  "Group stacks below the root (default: program in text, none in files).", flame_group_name, \
	  OPTION_COMMON },                                                                                 \
	{ "filter", 0, "TERM", parse_filter, PROFILE_OUTPUT_AT(arguments, filter),                 \
	  "Show only stacks with such a function: its name contains TERM, or matches it as "       \
	  "a glob (* and ?); or those of thread:NAME, process:NAME, module:NAME, user:NAME, "      \
	  "cgroup:PATH, state:NAME or pid:PID; '!' negates. If given more than once, all "         \
	  "must match.", NULL, OPTION_COMMON },                                                            \
	{ "not-contains", 0, "TERM", parse_not_contains, PROFILE_OUTPUT_AT(arguments, filter),     \
	  "Hide stacks that match TERM, as in --filter. May be given more than once.", NULL, false }, \
	{ "preset", 0, "NAME[,NAME...]", parse_preset, PROFILE_OUTPUT_AT(arguments, filter),       \
	  "Hide the waits of a runtime's idle threads. Files "                                     \
	  "~/.config/ctprof/presets/NAME.preset are presets too.", preset_name, false },           \
	{ "idle", 0, NULL, parse_flag, PROFILE_OUTPUT_AT(arguments, shows_idle),                   \
	  "Show idle threads, too: in a profile of the whole host, text leaves their waits out, "  \
	  "and pictures draw them as one grey frame.", NULL, OPTION_COMMON },    \
	{ "tui", 0, NULL, parse_flag, PROFILE_OUTPUT_AT(arguments, tui),                           \
	  "Show a flame graph on the terminal, to zoom, search and group by keys; ? lists "        \
	  "them.", NULL, false },                                                          \
	{ "offsets", 's', NULL, parse_flag, PROFILE_OUTPUT_AT(arguments, offsets),                 \
	  "Show the offset of the instruction after each function name.", NULL, false },           \
	{ "no-inline", 0, NULL, parse_flag, PROFILE_OUTPUT_AT(arguments, no_inline),               \
	  "Do not resolve inlined functions: faster.", NULL, false },                              \
	{ "top", 0, "N", parse_count, PROFILE_OUTPUT_AT(arguments, top),                             \
	  "Show at most N stacks and rows in text (default 10).", NULL, false },                   \
	{ "all", 0, NULL, parse_flag, PROFILE_OUTPUT_AT(arguments, all),                           \
	  "Show all rows, whole stacks and all counts in text.", NULL, OPTION_COMMON },                    \
	{ "symfs", 0, "DIR", parse_string, PROFILE_OUTPUT_AT(arguments, symfs),                    \
	  "Search this directory first for programs and libraries.", NULL, false },                \
	TERMINAL_OPTIONS \
	{ "quiet", 'q', NULL, parse_flag, PROFILE_OUTPUT_AT(arguments, quiet),                     \
	  "Print only errors on standard error.", NULL, false }
/* clang-format on */

struct error *parse_output_path(const char *argument, void *at);
struct error *parse_flame_group(const char *argument, void *at);
struct error *parse_filter(const char *argument, void *at);
struct error *parse_not_contains(const char *argument, void *at);
struct error *parse_preset(const char *argument, void *at);

const char *profile_format_name(size_t number);
const char *flame_group_name(size_t number);
const char *preset_name(size_t number);

/* Are all formats known? */
struct error *profile_output_settle(const struct profile_output *output) MUST_CHECK;

/* Can files be made where they are wanted? Asked before a profile is taken, which would be lost. */
struct error *profile_output_check(const struct profile_output *output) MUST_CHECK;

/*
 * Names, filters, and writes all that was asked for. `baseline` may be NULL. Names of files get the
 * number of the interval before their end, unless it is 0. The profile is changed.
 */
struct error *profile_output_show(const struct profile_output *output, struct profile *profile,
				  struct profile *baseline, unsigned interval) MUST_CHECK;

/* The same of the difference of two sides, of which is said what is known to be real: as many
 * profiles on each as there are. All are changed. */
struct error *profile_output_show_sides(const struct profile_output *output,
					struct profile *const *before, size_t before_count,
					struct profile *const *after,
					size_t after_count) MUST_CHECK;

/* Print the profile as a part of a page with flame graphs (report/page.h): its text, then its flame
 * graph. */
struct error *profile_output_page(const struct profile_output *output, struct profile *profile,
				  struct profile *baseline, FILE *out) MUST_CHECK;

void profile_output_deinit(struct profile_output *output);

#endif
