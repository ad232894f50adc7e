/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers of the text reports of profiles.
 */
#ifndef REPORT_PROFILE_HEADING_H
#define REPORT_PROFILE_HEADING_H

#include "report/profile_text.h"
#include "report/table.h"

static inline size_t rows_wanted(const struct profile_style *style)
{
	return style->limit ? style->limit : PROFILE_ROWS;
}

/* The options of tables in these reports. */
static inline struct table_options profile_table(FILE *out, const struct profile_style *style,
						 table_get get, const void *context)
{
	return (struct table_options){ .format = TABLE_AS_TEXT,
				       .out = out,
				       .get = get,
				       .context = context,
				       .width = style->width,
				       .colour = style->colour };
}

static inline void print_heading(FILE *out, const struct profile_style *style, const char *heading)
{
	fprintf(out, style->colour ? "\n\033[1m## %s\033[0m\n" : "\n## %s\n", heading);
}

#endif
