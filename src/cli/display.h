/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of every command that shows snapshots.
 */
#ifndef CLI_DISPLAY_H
#define CLI_DISPLAY_H

#include <stdio.h>

#include "cli/options.h"
#include "cli/terminal.h"
#include "report/report.h"

struct display {
	struct view view;
	struct report_style style;
	enum report_format format;
	bool has_limit, wrap;
	bool lifetime; /* --lifetime: totals, and no window */
	bool unnamed;  /* snapshots that are in no file */
};

#define DISPLAY_AT(member) offsetof(struct display, member)

#define SORT_GROUPS_HELP                                                               \
	"Rank groups by METRIC[:asc|desc],... (default descending), with rows in the " \
	"order of metric-list."
#define SORT_ROWS_HELP                                                                 \
	SORT_GROUPS_HELP " Or rank rows by delta, pct, share (of the host's change), " \
			 "or p (of several captures)."

#define LIMIT_ROWS_HELP                                                                          \
	"Show at most N rows in each block (times, bytes, counts, others), or N groups if "      \
	"groups are ranked (default 10 in table and markdown, 500 in html, otherwise all; 0 is " \
	"all)."
#define LIMIT_GROUPS_HELP                                                                      \
	"Show at most N groups in each table (default 10 in table and markdown, 500 in html, " \
	"otherwise all; 0 is all)."
#define ALL_ROWS_COMPARE_HELP \
	"Also show rows that did not change, or are unmeasured or zero on both sides."
#define ALL_ROWS_SHOW_HELP "Also show rows that are unmeasured."

/* The rows, for the table of a command whose arguments begin with a struct display. */
/* clang-format off */
#define DISPLAY_OPTIONS(parse_columns, column_values, parse_sort, sort_values, sort_help,          \
			limit_help, all_rows_help)                                                 \
	{ "group-by", 0, "AXIS", parse_axis, 0,                                                    \
	  "Group threads by AXIS (default pcomm, the process name).", axis_name, OPTION_COMMON },          \
	{ "sections", 0, "LIST", parse_sections, 0,                                                \
	  "Show only these sections.", section_name, OPTION_COMMON },                                      \
	{ "metrics", 0, "LIST", parse_metrics, 0,                                                  \
	  "Show only these primary and derived metrics, even if they are unmeasured; also by "     \
	  "globs (cpu_delay_*).", metric_name, OPTION_COMMON }, \
	{ "filter", 'f', "TERMS", parse_thread_filter, DISPLAY_AT(view.keys.filter),               \
	  "Select threads before they are grouped. Each term must match: part of a name, or "      \
	  "user:, cgroup:, state:, pid:, thread: or process: with a name; '!' negates, '|' "       \
	  "separates alternatives.", NULL, OPTION_COMMON },                                                \
	{ "match", 0, "GLOB", parse_pattern, DISPLAY_AT(view.match),                               \
	  "Show only groups whose name matches the glob (* ? and [...] as in the "                 \
	  "shell). May be given more than once; any may match.", NULL, OPTION_COMMON },                    \
	{ "not-match", 0, "GLOB", parse_pattern, DISPLAY_AT(view.not_match),                       \
	  "Hide groups whose name matches the glob. May be given more than once.", NULL, false },  \
	{ "sort-by", 0, "SPEC", parse_sort, 0, sort_help, sort_values, OPTION_COMMON },                    \
	{ "limit", 0, "N", parse_limit, 0,                                                         \
	  limit_help, NULL, false },                                                               \
	{ "all", 0, NULL, parse_all, 0,                                                            \
	  "Show every row of each block: the same as --limit 0.", NULL, false },                   \
	{ "all-rows", 0, NULL, parse_flag, DISPLAY_AT(view.all_rows), all_rows_help, NULL, false }, \
	{ "unmeasured", 0, NULL, parse_flag, DISPLAY_AT(view.unmeasured),                          \
	  "Name each metric that was not measured, and why, below the tables. So does --metrics.", \
	  NULL, false },                                                                           \
	{ "normalize", 0, "BY", parse_normalize, DISPLAY_AT(view.normalize),                       \
	  "Divide totals by the age of the threads or by their CPU time, in seconds, "             \
	  "to compare different hosts or boots.", normalize_name, false },                         \
	{ "completed-only", 0, NULL, parse_flag, DISPLAY_AT(view.completed_only),                  \
	  "Exclude waits in progress from totals: show them as the kernel accounted "              \
	  "them.", NULL, false },                                                                  \
	{ "cgroup-flatten", 0, "GLOB", parse_flatten, 0,                                           \
	  "Merge cgroups whose path matches the glob into one group of its name: * and "           \
	  "? match within a segment, ** across segments. May be given more than once; "            \
	  "the first match counts.", NULL, false },                                                \
	{ "no-thread-normalize", 0, NULL, parse_flag, DISPLAY_AT(view.keys.literal_threads),       \
	  "Keep thread names as they are. By default, worker-1 and worker-2 are both "             \
	  "worker-{N}.", NULL, false },                                                            \
	{ "no-cg-normalize", 0, NULL, parse_flag, DISPLAY_AT(view.keys.cgroups.literal),           \
	  "Keep cgroup paths as they are. By default, instances of a service, and "                \
	  "cgroups whose name changes at each start, are merged.", NULL, false },                  \
	{ "columns", 0, "LIST", parse_columns, 0,                                                  \
	  "Show these columns, in this order.", column_values, false },                            \
	{ "wrap", 0, NULL, parse_flag, DISPLAY_AT(wrap),                                           \
	  "Wrap cells to fit tables into the width of the terminal, rather than shorten "          \
	  "them.", NULL, false },                                                                               \
	TERMINAL_OPTIONS \
	{ "format", 0, "FORMAT", parse_format, 0,                                                  \
	  "Select the output format.", format_name, OPTION_COMMON }

/* Options of commands that compare. */
#define WINDOW_HELP                                                                            \
	"Compare what happened between the snapshots: only threads that are in both, with " \
	"derived metrics of that time. Threads that began or ended are listed separately. "
#define COMPARE_OPTIONS(window_help)                                                               \
	{ "window", 0, NULL, parse_flag, DISPLAY_AT(view.window),                                  \
	  window_help, NULL, false },                                                              \
	{ "lifetime", 0, NULL, parse_flag, DISPLAY_AT(lifetime),                                   \
	  "Compare totals since each thread began, of all threads of both snapshots.", NULL,       \
	  false },                                                                                 \
	{ "rate", 0, NULL, parse_flag, DISPLAY_AT(view.rate),                                      \
	  "Show changes per second.", NULL, false },                                               \
	{ "changed", 0, NULL, parse_flag, DISPLAY_AT(view.changed),                                \
	  "Show only rows that differ.", NULL, false },                                            \
	{ "min-delta", 0, "AMOUNT", parse_min_delta, 0,                                            \
	  "Hide rows that changed by less than AMOUNT (5%, 10ms, 1MiB, 1000); it "                 \
	  "applies to rows of its unit only. May be given more than once.", NULL, false },         \
	{ "display-format", 0, "NAME", parse_display_format, 0,                                    \
	  "Select the columns of values and changes.", display_format_name, false },               \
	{ "fail-if", 0, "EXPR", parse_fail_if, 0,                                                  \
	  "Exit with 3 if a change meets the condition [GROUP:]METRIC > AMOUNT (or >= "            \
	  "< <=), e.g. 'nginx*:run_time_ns > 10%'; with 4 if this is undecided. May be "           \
	  "given more than once.", NULL, OPTION_COMMON }
/* clang-format on */

/* Nothing chosen yet; in colours when standard output is a terminal. */
void display_init(struct display *display);

void display_deinit(struct display *display);

/* After the options were parsed: what follows from several of them. Warns of sections that the axis
 * does not have; fails when options exclude each other. */
enum display_of { DISPLAY_ONE, DISPLAY_TWO, DISPLAY_SEVERAL };
struct error *display_settle(struct display *display, enum display_of of) MUST_CHECK;

/* A window between two sides, unless the options say otherwise. */
void display_window_usual(struct display *display);

/* The same where people read it, and both are of one boot: programs, and conditions, get totals as
 * they ever did. */
void display_window_of_boot(struct display *display, const struct side *sides, size_t count);

/* Print the report, and return the exit status. */
int display_print(const struct display *display, const struct side *sides, size_t baselines,
		  size_t count);

/* Make the report and print it by `print` rather than in the display's format. `ret` is the verdict
 * of its conditions. */
struct error *display_print_by(const struct display *display, report_print print, FILE *out,
			       const struct side *sides, size_t baselines, size_t count,
			       enum verdict *ret) MUST_CHECK;

/* In reports of one snapshot for people, rank groups by CPU time, unless the user chose another
 * order. Formats for programs keep the order of names. */
void display_rank_by_cpu_time(struct display *display);

struct error *parse_axis(const char *argument, void *at);
struct error *parse_sections(const char *argument, void *at);
struct error *parse_metrics(const char *argument, void *at);
struct error *parse_thread_filter(const char *argument, void *at);
struct error *parse_pattern(const char *argument, void *at);
struct error *parse_show_sort(const char *argument, void *at);
struct error *parse_compare_sort(const char *argument, void *at);
struct error *parse_limit(const char *argument, void *at);
struct error *parse_all(const char *argument, void *at);
struct error *parse_normalize(const char *argument, void *at);
struct error *parse_flatten(const char *argument, void *at);
struct error *parse_show_columns(const char *argument, void *at);
struct error *parse_compare_columns(const char *argument, void *at);
struct error *parse_format(const char *argument, void *at);
struct error *parse_min_delta(const char *argument, void *at);
struct error *parse_display_format(const char *argument, void *at);
struct error *parse_fail_if(const char *argument, void *at);

/* Add the primary and derived metrics that a word names: one, or those that match it as a glob. */
struct error *metrics_select(const char *word, struct selection *selection) MUST_CHECK;

const char *axis_name(size_t number);
const char *section_name(size_t number);
const char *metric_name(size_t number);
const char *show_sort_name(size_t number);
const char *compare_sort_name(size_t number);
const char *normalize_name(size_t number);
const char *show_column_name(size_t number);
const char *compare_column_name(size_t number);
const char *format_name(size_t number);
const char *display_format_name(size_t number);

/* Print what the user should know about how a file was read. */
void print_remarks(const char *path, const struct ctprof_snapshot *snapshot);

#endif
