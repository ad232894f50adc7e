/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers of the text reports of profiles.
 */
#ifndef REPORT_PROFILE_HEADING_H
#define REPORT_PROFILE_HEADING_H

#include <inttypes.h>

#include "base/units.h"
#include "report/profile_text.h"
#include "report/table.h"

static inline size_t rows_wanted(const struct profile_style *style)
{
	if (style->all)
		return SIZE_MAX;
	return style->limit ? style->limit : PROFILE_ROWS;
}

/* The rows that are shown of so many. */
static inline size_t rows_shown(const struct profile_style *style, size_t count)
{
	const size_t wanted = rows_wanted(style);

	return wanted < count ? wanted : count;
}

/* "... 12 more threads with 3.000ms (--all)", if there are any. */
static inline void print_more_rows(struct table *table, size_t count, const char *what,
				   enum unit unit, uint64_t value)
{
	char line[UNITS_TEXT_MAX + 80], text[UNITS_TEXT_MAX];

	if (!count)
		return;
	snprintf(line, sizeof(line), " ... %zu more %s%s with %s (--all)", count, what,
		 plural(count), units_format(text, unit, value));
	table_line(table, line);
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

/* The name of a process as that of its program; NULL: kernel threads, which are one. */
static inline struct text program_text(const struct name *process)
{
	return !process          ? TEXT("[kernel threads]")
	       : process->length ? name_text(process)
				 : TEXT("[unknown]");
}

static inline void print_heading(FILE *out, const struct profile_style *style, const char *heading)
{
	fprintf(out, style->colour ? "\n\033[1m## %s\033[0m\n" : "\n## %s\n", heading);
}

#endif
