/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports as text, Markdown and CSV.
 */
#include <stdlib.h>
#include <string.h>

#include "report/document.h"
#include "report/fields.h"
#include "report/table_printer.h"

const struct report_format_info report_formats[REPORT_FORMAT_COUNT] = {
#define REPORT(id, name, ...) [REPORT_##id] = { name, __VA_ARGS__ },
	REPORT_FORMATS(REPORT)
#undef REPORT
};

/* --- text --- */

static struct error *text_heading(const struct document *d, const char *heading)
{
	fprintf(d->out, d->style->colour ? "\n\033[1m## %s\033[0m\n" : "\n## %s\n", heading);
	return NULL;
}

static struct error *text_paragraph(const struct document *d, const char *text)
{
	fprintf(d->out, "\n%s\n", text);
	return NULL;
}

static struct error *text_sentence(const struct document *d, const char *text, bool is_indented)
{
	fprintf(d->out, is_indented ? " %s\n" : "%s\n", text);
	return NULL;
}

static struct error *text_lines(const struct document *d, document_lines *say, bool begins)
{
	(void)begins;
	say(d->out, d);
	return NULL;
}

static struct error *text_overview(const struct document *d, document_lines *say)
{
	say(d->out, d);
	return NULL;
}

static const struct document_form text_form = {
	TABLE_AS_TEXT, text_heading, text_paragraph, text_sentence, text_lines, text_overview,
};

/* --- Markdown --- */

static struct error *markdown_heading(const struct document *d, const char *heading)
{
	fprintf(d->out, "\n## %s\n", heading);
	return NULL;
}

static struct error *markdown_paragraph(const struct document *d, const char *text)
{
	fputc('\n', d->out);
	table_markdown_text(d->out, text);
	fputc('\n', d->out);
	return NULL;
}

static struct error *markdown_sentence(const struct document *d, const char *text, bool is_indented)
{
	(void)is_indented;
	fprintf(d->out, "\n%s\n", text);
	return NULL;
}

static struct error *markdown_lines(const struct document *d, document_lines *say, bool begins)
{
	_cleanup_free_ char *lines = NULL;
	struct error *err = document_text(d, say, &lines);
	char *rest, *line;

	if (err)
		return err;
	if (*lines && !begins)
		fputc('\n', d->out);
	for (rest = lines; (line = strsep(&rest, "\n"));) {
		if (!*line)
			continue;
		fputs("- ", d->out);
		table_markdown_text(d->out, line);
		fputc('\n', d->out);
	}
	return NULL;
}

static struct error *markdown_overview(const struct document *d, document_lines *say)
{
	return markdown_lines(d, say, true);
}

static const struct document_form markdown_form = {
	TABLE_AS_MARKDOWN, markdown_heading, markdown_paragraph,
	markdown_sentence, markdown_lines,   markdown_overview,
};

/* --- all of them --- */

struct error *report_text(FILE *out, const struct report *report, const struct report_style *style)
{
	const struct document d = document_of(out, report, style, &text_form);

	return document_print(&d);
}

struct error *report_markdown(FILE *out, const struct report *report,
			      const struct report_style *style)
{
	const struct document d = document_of(out, report, style, &markdown_form);

	return document_print(&d);
}

struct error *report_csv(FILE *out, const struct report *report, const struct report_style *style)
{
	(void)style;
	return fields_print(report, NULL,
			    (struct table_options){ .format = TABLE_AS_CSV, .out = out });
}
