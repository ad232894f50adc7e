/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Label values and help texts in the two text formats of Prometheus.
 */
#ifndef REPORT_OPENMETRICS_TEXT_H
#define REPORT_OPENMETRICS_TEXT_H

#include <stdio.h>

#include "base/text.h"

/* Valid UTF-8 without control characters other than newlines: others, and invalid bytes, become
 * U+FFFD. Allocated; NULL: no memory. */
char *openmetrics_clean(struct text text);

/* Print with backslashes, quotes and newlines escaped. */
void openmetrics_print_escaped(FILE *out, const char *cleaned);

#endif
