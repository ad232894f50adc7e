/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports as documents for people: tables under headings, and around them what must be known beside
 * the numbers. The same in text, Markdown and HTML; a form says how each of its parts looks.
 */
#ifndef REPORT_DOCUMENT_H
#define REPORT_DOCUMENT_H

#include "report/report.h"
#include "report/table.h"

struct document_form;

struct document {
	FILE *out;
	const struct report *report;
	const struct report_style *style;
	const struct document_form *form;
	struct columns columns;
};

typedef void document_lines(FILE *out, const struct document *d);

struct document_form {
	enum table_format format;
	struct error *(*heading)(const struct document *d, const char *heading);
	/* A paragraph that may hold names, which are visible. */
	struct error *(*paragraph)(const struct document *d, const char *text);
	/* A sentence of ours in place of a table: `is_indented` below its heading. */
	struct error *(*sentence)(const struct document *d, const char *text, bool is_indented);
	/* The lines that `say` prints: a list, if there are any. `begins`: at the begin of tables.
	 */
	struct error *(*lines)(const struct document *d, document_lines *say, bool begins);
	/* The same of the overview, whose lines have columns. */
	struct error *(*overview)(const struct document *d, document_lines *say);
};

/* A document of that form, with the columns of the style or the usual ones. */
struct document document_of(FILE *out, const struct report *report,
			    const struct report_style *style, const struct document_form *form);

/* The overview; nothing where the report has none. */
struct error *document_print_overview(const struct document *d) MUST_CHECK;

/* All that comes after the overview. */
struct error *document_print_rest(const struct document *d) MUST_CHECK;

/* Both of them. */
struct error *document_print(const struct document *d) MUST_CHECK;

/* What `say` prints, allocated. */
struct error *document_text(const struct document *d, document_lines *say, char **ret) MUST_CHECK;

#endif
