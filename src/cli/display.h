/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of every command that shows snapshots.
 */
#ifndef CLI_DISPLAY_H
#define CLI_DISPLAY_H

#include "cli/options.h"
#include "report/report.h"

struct display {
	struct view view;
	struct report_style style;
	enum report_format format;
	bool has_limit, wrap;
};

#define DISPLAY_AT(member) offsetof(struct display, member)

#define SORT_GROUPS_HELP                                                                        \
	"Rank groups by these metrics, METRIC[:asc|desc],... (default descending), their rows " \
	"as metric-list has them."
#define SORT_ROWS_HELP                                                                      \
	SORT_GROUPS_HELP " Or rank rows: by delta, by pct, by share of the host's change, " \
			 "or by p of several captures."

/* The rows, for the table of a command whose arguments begin with a struct display. */
/* clang-format off */
#define DISPLAY_OPTIONS(parse_columns, column_values, parse_sort, sort_values, sort_help)          \
	{ "group-by", 0, "AXIS", parse_axis, 0,                                                    \
	  "What threads are grouped by (default pcomm, the process name).", axis_name, false },    \
	{ "sections", 0, "LIST", parse_sections, 0,                                                \
	  "Only these sections.", section_name, false },                                           \
	{ "metrics", 0, "LIST", parse_metrics, 0,                                                  \
	  "Of the primary and derived metrics only these, measured or not.", metric_name, false }, \
	{ "match", 0, "GLOB", parse_pattern, DISPLAY_AT(view.match),                               \
	  "Only groups whose name matches, with * ? and [...] as in the shell; more than once: "   \
	  "any of them.", NULL, false },                                                           \
	{ "not-match", 0, "GLOB", parse_pattern, DISPLAY_AT(view.not_match),                       \
	  "No groups whose name matches.", NULL, false },                                          \
	{ "sort-by", 0, "SPEC", parse_sort, 0, sort_help, sort_values, false },                    \
	{ "limit", 0, "N", parse_limit, 0,                                                         \
	  "At most this many rows in a block of times, bytes, counts, or others, or this many "    \
	  "groups where those are ranked (default 50 in tables, else all; 0 is all).", NULL,       \
	  false },                                                                                 \
	{ "all-rows", 0, NULL, parse_flag, DISPLAY_AT(view.all_rows),                              \
	  "Also rows of which there is nothing to say: not measured, or zero on both sides.",      \
	  NULL, false },                                                                           \
	{ "normalize", 0, "BY", parse_normalize, DISPLAY_AT(view.normalize),                       \
	  "Divide totals by the age of the threads, or by their CPU time, in seconds: so hosts "   \
	  "and boots compare.", normalize_name, false },                                           \
	{ "completed-only", 0, NULL, parse_flag, DISPLAY_AT(view.completed_only),                  \
	  "Totals of waits as the kernel booked them, without waits in progress.", NULL, false },  \
	{ "cgroup-flatten", 0, "GLOB", parse_flatten, 0,                                           \
	  "Cgroups whose path matches are one group, named by the glob: * and ? within a "         \
	  "segment, ** over segments. May be given more than once; the first that matches "        \
	  "counts.", NULL, false },                                                                \
	{ "no-thread-normalize", 0, NULL, parse_flag, DISPLAY_AT(view.keys.literal_threads),       \
	  "Names as they are, where else worker-1 and worker-2 are worker-{N}.", NULL, false },    \
	{ "no-cg-normalize", 0, NULL, parse_flag, DISPLAY_AT(view.keys.cgroups.literal),           \
	  "Cgroup paths as they are, where else instances of one service, and cgroups named "      \
	  "anew at each start, come together.", NULL, false },                                     \
	{ "columns", 0, "LIST", parse_columns, 0,                                                  \
	  "These columns, in this order.", column_values, false },                                 \
	{ "wrap", 0, NULL, parse_flag, DISPLAY_AT(wrap),                                           \
	  "Fit tables into the width of the terminal, with cells of several lines.", NULL,         \
	  false },                                                                                 \
	{ "format", 0, "FORMAT", parse_format, 0,                                                  \
	  "How to print: for people, or for programs.", format_name, false }

/* And those of commands that compare. */
#define COMPARE_OPTIONS                                                                            \
	{ "window", 0, NULL, parse_flag, DISPLAY_AT(view.window),                                  \
	  "Only threads that both have: what changed in between, and derived metrics of that "     \
	  "time. Threads that began and ended are listed.", NULL, false },                         \
	{ "rate", 0, NULL, parse_flag, DISPLAY_AT(view.rate),                                      \
	  "Changes per second.", NULL, false },                                                    \
	{ "changed", 0, NULL, parse_flag, DISPLAY_AT(view.changed),                                \
	  "Only rows that are not the same.", NULL, false },                                       \
	{ "min-delta", 0, "AMOUNT", parse_min_delta, 0,                                            \
	  "No rows that changed less: 5%, 10ms, 1MiB, 1000; each says something of its own kind "  \
	  "of rows only. May be given more than once.", NULL, false },                             \
	{ "display-format", 0, "NAME", parse_display_format, 0,                                    \
	  "Which columns the values and their change have.", display_format_name, false },         \
	{ "fail-if", 0, "EXPR", parse_fail_if, 0,                                                  \
	  "Exit with 3 when a change meets this: [GROUP:]METRIC > AMOUNT, or >= < <=, as in "      \
	  "'nginx*:run_time_ns > 10%'; with 4 when that cannot be told. May be given more than "   \
	  "once.", NULL, false }
/* clang-format on */

/* Nothing chosen yet; in colours when standard output is a terminal. */
void display_init(struct display *display);

void display_deinit(struct display *display);

/* After the options were parsed: what follows from several of them. Warns of sections that the axis
 * does not have; fails when options exclude each other. */
enum display_of { DISPLAY_ONE, DISPLAY_TWO, DISPLAY_SEVERAL };
struct error *display_settle(struct display *display, enum display_of of) MUST_CHECK;

/* Print the report, and return the exit status. */
int display_print(const struct display *display, const struct side *sides, size_t baselines,
		  size_t count);

struct error *parse_axis(const char *argument, void *at);
struct error *parse_sections(const char *argument, void *at);
struct error *parse_metrics(const char *argument, void *at);
struct error *parse_pattern(const char *argument, void *at);
struct error *parse_show_sort(const char *argument, void *at);
struct error *parse_compare_sort(const char *argument, void *at);
struct error *parse_limit(const char *argument, void *at);
struct error *parse_normalize(const char *argument, void *at);
struct error *parse_flatten(const char *argument, void *at);
struct error *parse_show_columns(const char *argument, void *at);
struct error *parse_compare_columns(const char *argument, void *at);
struct error *parse_format(const char *argument, void *at);
struct error *parse_min_delta(const char *argument, void *at);
struct error *parse_display_format(const char *argument, void *at);
struct error *parse_fail_if(const char *argument, void *at);

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
