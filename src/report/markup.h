/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text within XML and HTML, and templates of them.
 */
#ifndef REPORT_MARKUP_H
#define REPORT_MARKUP_H

#include <stdio.h>

#include "base/error.h"
#include "base/text.h"

/* Write text, also for a quoted attribute. It may have any bytes: those that XML does not allow are
 * printed as on a terminal ("\x07"), invalid characters as U+FFFD; only newlines are kept. */
struct error *markup_text(FILE *out, struct text text) MUST_CHECK;

/* A slot of a template. */
struct slot {
	struct text name; /* "@TITLE@" */
	struct error *(*print)(FILE *out, const void *context);
};

/* The template with what each slot prints in its place. */
struct error *markup_fill(FILE *out, struct text template, const struct slot *slots, size_t count,
			  const void *context) MUST_CHECK;

#endif
