/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of `ctprof report`: a section for each comparison of two files of a kind.
 */
#ifndef CMD_REPORT_PAGE_H
#define CMD_REPORT_PAGE_H

#include <stdio.h>

#include "cli/display.h"
#include "cmd/report_inputs.h"

struct report_page {
	const struct display *display; /* of snapshots: made by display_init(), for REPORT_HTML */
	const struct report_inputs *inputs;
	const char *title;
	bool quiet;
	bool reads_nothing; /* do not read files of this host to name frames of profiles */
};

struct error *report_page_print(FILE *out, const struct report_page *page) MUST_CHECK;

/* The title of a page of `count` files, by the first two names. Release with free(); NULL: no
 * memory. */
char *report_page_title(const char *first, const char *second, size_t count);

/* Print the page of `count` open files, at least one, as `ctprof report` does without options. No
 * other file is opened, so frames that the files do not name stay addresses. Warnings about the
 * files may be printed on standard error. */
struct error *report_page_print_files(FILE *out, const struct named_file *files,
				      size_t count) MUST_CHECK;

#endif
