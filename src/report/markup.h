/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text within XML and HTML, and templates of them.
 */
#ifndef REPORT_MARKUP_H
#define REPORT_MARKUP_H

#include <stdio.h>

#include "base/error.h"
#include "base/text.h"

/* As text or in a quoted attribute. The text may hold any bytes: what XML cannot hold is shown as
 * on a terminal ("\x07"), what is no character as U+FFFD; only newlines stay. */
struct error *markup_text(FILE *out, struct text text) MUST_CHECK;

/* One slot of a template. */
struct slot {
	struct text name; /* "@TITLE@" */
	struct error *(*print)(FILE *out, const void *context);
};

/* The template with what each slot prints in its place. */
struct error *markup_fill(FILE *out, struct text template, const struct slot *slots, size_t count,
			  const void *context) MUST_CHECK;

#endif
