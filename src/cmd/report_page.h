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
	const struct display *display; /* of snapshots: of display_init(), for REPORT_HTML */
	const struct report_inputs *inputs;
	const char *title;
	bool quiet;
	bool reads_nothing; /* do not read files of this host to name frames of profiles */
};

struct error *report_page_print(FILE *out, const struct report_page *page) MUST_CHECK;

/* The title of a page of these files. Allocated; NULL: no memory. */
char *report_page_title(const char *first, const char *second, size_t count);

/* The page of open files, at least one, as `ctprof report` prints it without options. It opens
 * nothing, so frames that the files do not name stay addresses. Remarks about files may go to
 * standard error. */
struct error *report_page_print_files(FILE *out, const struct named_file *files,
				      size_t count) MUST_CHECK;

#endif
