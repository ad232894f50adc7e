/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of labels and lines of help as both text formats of Prometheus have them.
 */
#ifndef REPORT_OPENMETRICS_TEXT_H
#define REPORT_OPENMETRICS_TEXT_H

#include <stdio.h>

#include "base/text.h"

/* UTF-8 without other control characters than newlines: what they and bytes of no character are is
 * replaced. To be freed; NULL: no memory. */
char *openmetrics_clean(struct text text);

/* With escapes of backslashes, quotes and newlines. */
void openmetrics_print_escaped(FILE *out, const char *cleaned);

#endif
