/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page of HTML in one file: assets/report_page.html with styles and scripts in it.
 *
 * It loads nothing, and runs nothing but our scripts: its Content-Security-Policy allows no source,
 * and styles and scripts by their SHA-256 alone (CSP Level 3, 2.3.1), which are computed when it is
 * written. So names in a page start no script even if a bug leaves them unescaped, and there is no
 * 'unsafe-inline'. That also rules out attributes `style` and `onclick`: colours are classes, or
 * presentation attributes of SVG.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "report/assets.h"

struct html_page {
	const char *title;
	struct error *(*facts)(FILE *out, const void *context); /* below it, as HTML; NULL: none */
	struct error *(*body)(FILE *out, const void *context);  /* as HTML */
	const void *context;
	bool has_flames; /* flame graphs are in it (report/flame_part.h) */
};

/* For bodies and other pages: a style or a script that the policy allows, in an element of its own.
 */
void page_print_style(FILE *out, enum asset style);
void page_print_script(FILE *out, enum asset script);

/* A policy that allows these alone: the content of an attribute. */
struct page_policy {
	const enum asset *styles, *scripts;
	size_t style_count, script_count;
};
void page_print_policy(FILE *out, const struct page_policy *policy);

struct error *page_print(FILE *out, const struct html_page *page) MUST_CHECK;

#endif
