/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/html_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/document.h"
#include "report/host_report.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/state_bars.h"

/* --- the form --- */

static struct error *print_element(FILE *out, const char *tag, const char *text)
{
	struct error *err;

	fprintf(out, "<%s>", tag);
	err = markup_text(out, text_of(text));
	fprintf(out, "</%s>\n", tag);
	return err;
}

static struct error *html_heading(const struct document *d, const char *heading)
{
	return print_element(d->out, "h3", heading);
}

static struct error *html_paragraph(const struct document *d, const char *text)
{
	return print_element(d->out, "p", text);
}

static struct error *html_sentence(const struct document *d, const char *text, bool is_indented)
{
	(void)is_indented;
	return print_element(d->out, "p", text);
}

static struct error *html_lines(const struct document *d, document_lines *say, bool begins)
{
	_cleanup_free_ char *lines = NULL;
	struct error *err = document_text(d, say, &lines);
	char *rest = lines, *line;

	(void)begins;
	if (err || !*lines)
		return err;
	fputs("<ul class=\"notes\">\n", d->out);
	while (!err && (line = strsep(&rest, "\n")))
		if (*line)
			err = print_element(d->out, "li", line);
	fputs("</ul>\n", d->out);
	return err;
}

static struct error *html_overview(const struct document *d, document_lines *say)
{
	_cleanup_free_ char *lines = NULL;
	struct error *err = document_text(d, say, &lines);

	return err || !*lines ? err : print_element(d->out, "pre", lines);
}

static const struct document_form html_form = {
	TABLE_AS_HTML, html_heading, html_paragraph, html_sentence, html_lines, html_overview,
};

/* --- hosts --- */

static struct error *print_host(FILE *out, const struct side *side)
{
	_cleanup_free_ char *facts = NULL;
	struct error *err;
	size_t length;
	FILE *memory = open_memstream(&facts, &length);

	if (!memory)
		return &error_no_memory;
	report_host(memory, side->snapshot->host);
	if (!file_close_memory(memory, &facts))
		return &error_no_memory;
	fputs("<details><summary>Host of ", out);
	err = markup_text(out, text_of(side->name));
	fputs("</summary>\n", out);
	if (!err)
		err = print_element(out, "pre", facts);
	fputs("</details>\n", out);
	return err;
}

static struct error *print_hosts(FILE *out, const struct report *report)
{
	const struct sides *sides = report->sides;
	struct error *err = print_host(out, &sides->items[sides->count - 1]);

	/* Two snapshots of one boot are of the same host; the section "host" lists its changes. */
	if (!err && report->comparing && report->boots != BOOTS_SAME)
		err = print_host(out, &sides->items[0]);
	return err;
}

/* --- all of it --- */

struct error *html_report_part(FILE *out, const struct report *report,
			       const struct report_style *style)
{
	const struct document d = document_of(out, report, style, &html_form);
	struct error *err = document_print_overview(&d);

	if (!err)
		err = state_bars_print(out, report);
	if (!err)
		err = document_print_rest(&d);
	return err ? err : print_hosts(out, report);
}

static const char *name_of(const struct side *side)
{
	const char *slash = strrchr(side->name, '/');

	return slash && slash[1] ? slash + 1 : side->name;
}

char *html_report_title(const struct report *report)
{
	const struct sides *sides = report->sides;
	const char *last = name_of(&sides->items[sides->count - 1]);

	return sides->baselines ? text_print("%s -> %s", name_of(&sides->items[0]), last)
				: text_print("%s", last);
}

struct html_context {
	const struct report *report;
	const struct report_style *style;
};

static struct error *print_body(FILE *out, const void *context)
{
	const struct html_context *c = context;

	return html_report_part(out, c->report, c->style);
}

struct error *report_html(FILE *out, const struct report *report, const struct report_style *style)
{
	const struct html_context context = { report, style };
	_cleanup_free_ char *title = html_report_title(report);

	if (!title)
		return &error_no_memory;
	return page_print(out, &(struct html_page){
				       .title = title, .body = print_body, .context = &context });
}
