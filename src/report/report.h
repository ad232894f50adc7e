/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report as text, Markdown, HTML, JSON or CSV: the same rows and values in each.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdio.h>

#include "report/columns.h"

/* A command that ran between two captures, and is in neither: it and its children, as wait4(2) has
 * it. */
struct report_command {
	const char *name;
	double seconds, cpu_s; /* how long it took; CPU time */
	uint64_t faults, major_faults, waits;
	int status;
};

struct report_style {
	enum display_format format;
	struct columns columns; /* none: those of the format */
	size_t width;           /* of the terminal, that tables are to fit; else 0 */
	bool wrap;              /* cells to that width, rather than shorten them */
	bool colour;
	const struct report_command *command; /* that ran between the captures, or NULL */
	bool has_files; /* the names of sides are those of files that a command can be run with */
	/* Does a process of the snapshot run here; with 0, is the snapshot of this boot? NULL: no.
	 * A report only names commands on processes that do. */
	bool (*runs)(const struct ctprof_snapshot *snapshot, uint32_t pid);
};

/* REPORT(id, name, function, for people, has the results of conditions (which are printed on
 * standard error otherwise), rows of a block without --limit or --all; 0: all) */
#define REPORT_FORMATS(REPORT)                                                       \
	REPORT(TABLE, "table", report_text, true, true, REPORT_USUAL_ROWS)           \
	REPORT(JSON, "json", report_json, false, true, 0)                            \
	REPORT(CSV, "csv", report_csv, false, false, 0)                              \
	REPORT(MARKDOWN, "markdown", report_markdown, true, true, REPORT_USUAL_ROWS) \
	REPORT(HTML, "html", report_html, true, true, REPORT_PAGE_ROWS)

#define REPORT_USUAL_ROWS 10
/* A page shows the first rows of a block; the others can be unfolded and searched. */
#define REPORT_PAGE_ROWS 500

enum report_format {
#define REPORT(id, ...) REPORT_##id,
	REPORT_FORMATS(REPORT)
#undef REPORT
		REPORT_FORMAT_COUNT
};

typedef struct error *(*report_print)(FILE *out, const struct report *report,
				      const struct report_style *style);

struct report_format_info {
	const char *name;
	report_print print;
	bool people;
	bool has_results;
	size_t usual_rows;
};
extern const struct report_format_info report_formats[REPORT_FORMAT_COUNT];

/* Print the report for people: tables with headings, and notes. */
struct error *report_text(FILE *out, const struct report *report,
			  const struct report_style *style) MUST_CHECK;

/* The same, to be pasted where Markdown is understood. */
struct error *report_markdown(FILE *out, const struct report *report,
			      const struct report_style *style) MUST_CHECK;

/* The same as one file of HTML (report/page.h), with tables that can be sorted and searched, and
 * bars of the time per state (state_bars.h). */
struct error *report_html(FILE *out, const struct report *report,
			  const struct report_style *style) MUST_CHECK;

/* Print the report as JSON; doc/report.md has the schema. */
struct error *report_json(FILE *out, const struct report *report,
			  const struct report_style *style) MUST_CHECK;
struct error *report_csv(FILE *out, const struct report *report,
			 const struct report_style *style) MUST_CHECK;

#endif
