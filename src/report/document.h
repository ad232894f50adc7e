/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports as documents for people: tables under headings, with paragraphs and notes around them.
 * The order of parts is the same in text, Markdown and HTML; a `struct document_form` prints each
 * part in its format. Functions fail only without memory.
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
	/* A paragraph. Names in it have been made printable (text_visible). */
	struct error *(*paragraph)(const struct document *d, const char *text);
	/* A fixed sentence, without names, where a table would be empty. `is_indented`: it stands
	 * below the heading of the table. */
	struct error *(*sentence)(const struct document *d, const char *text, bool is_indented);
	/* A list of the lines that `say` prints; nothing if it prints none. `begins`: the list
	 * comes before all tables. */
	struct error *(*lines)(const struct document *d, document_lines *say, bool begins);
	/* The lines of the overview, whose columns must stay aligned. */
	struct error *(*overview)(const struct document *d, document_lines *say);
};

/* A document in this form, with the columns of the style, or the default ones if it has none. It
 * refers to `report`, `style` and `form`. */
struct document document_of(FILE *out, const struct report *report,
			    const struct report_style *style, const struct document_form *form);

/* Print the overview, if the report has one. */
struct error *document_print_overview(const struct document *d) MUST_CHECK;

/* Print everything after the overview. */
struct error *document_print_rest(const struct document *d) MUST_CHECK;

/* Print the overview and the rest. */
struct error *document_print(const struct document *d) MUST_CHECK;

/* Print the lines of `say` to memory. `*ret` is allocated. */
struct error *document_text(const struct document *d, document_lines *say, char **ret) MUST_CHECK;

#endif
