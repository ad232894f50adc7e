/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page of HTML in one file: assets/report_page.html with its styles and scripts inserted.
 *
 *	const struct html_page page = { .title = title, .body = print_body, .context = &data };
 *	err = page_print(out, &page);
 *
 * The page loads nothing and runs only our scripts. Its Content-Security-Policy allows no source,
 * only styles and scripts whose SHA-256 it lists (CSP Level 3, section 2.3.1); the hashes are
 * computed when the page is written. So a name from a host cannot start a script even if a bug
 * leaves it unescaped. Without 'unsafe-inline', attributes such as `style` and `onclick` have no
 * effect: colours are classes, or presentation attributes of SVG.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "report/assets.h"

struct html_page {
	const char *title;
	struct error *(*facts)(FILE *out, const void *context); /* as HTML; NULL: none */
	struct error *(*body)(FILE *out, const void *context);  /* as HTML */
	const void *context;
	bool has_flames; /* insert the assets of flame graphs (report/flame_part.h) */
};

/* Print an asset in a <style> or <script> element that a policy with this asset allows. */
void page_print_style(FILE *out, enum asset style);
void page_print_script(FILE *out, enum asset script);

/* Print a Content-Security-Policy that allows only these assets, as the value of an attribute or of
 * the header. */
struct page_policy {
	const enum asset *styles, *scripts;
	size_t style_count, script_count;
	bool has_style_attributes; /* any style is allowed; none can load anything */
};
void page_print_policy(FILE *out, const struct page_policy *policy);

/* The policy of pages of page_print(), with all of their assets, for servers that send one. */
extern const struct page_policy html_page_policy;

struct error *page_print(FILE *out, const struct html_page *page) MUST_CHECK;

#endif
