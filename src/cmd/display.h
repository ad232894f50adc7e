/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of every command that shows snapshots.
 */
#ifndef CMD_DISPLAY_H
#define CMD_DISPLAY_H

#include "cmd/options.h"
#include "report/metrics_report.h"

/* The rows, for the table of a command whose arguments are a struct report_options. */
/* clang-format off */
#define DISPLAY_OPTIONS(parse_columns, column_values)                                              \
	{ "group-by", 0, "AXIS", parse_axis, 0,                                                    \
	  "What threads are grouped by (default pcomm, the process name).", axis_name },        \
	{ "sections", 0, "LIST", parse_sections, 0,                                                \
	  "Only rows of these sections.", section_name },                                          \
	{ "metrics", 0, "LIST", parse_metrics, 0,                                                  \
	  "Only these metrics, measured or not.", metric_name },                                   \
	{ "columns", 0, "LIST", parse_columns, 0,                                                  \
	  "These columns, in this order.", column_values },                                        \
	{ "match", 0, "GLOB", parse_match, 0,                                                      \
	  "Only groups whose name matches, with * ? and [...] as in the shell; more than once: "   \
	  "any of them.", NULL },                                                                  \
	{ "all-rows", 0, NULL, parse_flag, offsetof(struct report_options, all_rows),              \
	  "Also rows that were not measured, or did not change.", NULL },                          \
	{ "limit", 0, "N", parse_size, offsetof(struct report_options, limit),                     \
	  "At most this many rows of a table (default 500; 0 is all).", NULL }
/* clang-format on */

/* What is shown without options; in colours when standard output is a terminal. */
struct report_options display_defaults(void);

struct error *parse_axis(const char *argument, void *at);
struct error *parse_sections(const char *argument, void *at);
struct error *parse_metrics(const char *argument, void *at);
struct error *parse_match(const char *argument, void *at);
struct error *parse_show_columns(const char *argument, void *at);
struct error *parse_compare_columns(const char *argument, void *at);

const char *axis_name(size_t number);
const char *section_name(size_t number);
const char *metric_name(size_t number);
const char *show_column_name(size_t number);
const char *compare_column_name(size_t number);

/* Print what the user should know about how a file was read. */
void print_remarks(const char *path, const struct ctprof_snapshot *snapshot);

#endif
