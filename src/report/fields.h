/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of a row for programs, the same in JSON and in CSV: raw numbers, exact.
 */
#ifndef REPORT_FIELDS_H
#define REPORT_FIELDS_H

#include "compare/report.h"

/* FIELD(id, name, in rows of one snapshot, of two, only of several captures) */
#define ROW_FIELDS(FIELD)                                                             \
	FIELD(SECTION, "section", true, true, false)                                  \
	FIELD(GROUP, "group", true, true, false)                                      \
	FIELD(METRIC, "metric", true, true, false)                                    \
	FIELD(UNIT, "unit", true, true, false)                                        \
	FIELD(VALUE, "value", true, false, false)                                     \
	FIELD(BASELINE, "baseline", false, true, false)                               \
	FIELD(CANDIDATE, "candidate", false, true, false)                             \
	FIELD(DELTA, "delta", false, true, false)                                     \
	FIELD(PERCENT, "pct", false, true, false)                                     \
	FIELD(SHARE, "share", false, true, false)                                     \
	FIELD(BASELINE_SPREAD, "baseline_spread", false, false, true)                 \
	FIELD(CANDIDATE_SPREAD, "candidate_spread", false, false, true)               \
	FIELD(BASELINE_VALUES, "baseline_values", false, false, true)                 \
	FIELD(CANDIDATE_VALUES, "candidate_values", false, false, true)               \
	FIELD(PROBABILITY, "p", false, false, true)                                   \
	FIELD(BASELINE_THREADS, "baseline_threads", false, true, false)               \
	FIELD(BASELINE_MEASURED, "baseline_measured_threads", false, true, false)     \
	FIELD(THREADS, "threads", true, true, false)                                  \
	FIELD(MEASURED, "measured_threads", true, true, false)                        \
	FIELD(BASELINE_IMPOSSIBLE, "baseline_impossible_threads", false, true, false) \
	FIELD(IMPOSSIBLE, "impossible_threads", true, true, false)

enum row_field {
#define FIELD(id, ...) FIELD_ID_##id,
	ROW_FIELDS(FIELD)
#undef FIELD
		ROW_FIELD_COUNT
};

const char *row_field_name(enum row_field field);

/* Do the rows of this report have it? */
bool row_field_is_in(const struct report *report, enum row_field field);

/* Is it left out of JSON where it says nothing? */
static inline bool row_field_is_rare(enum row_field field)
{
	return field == FIELD_ID_BASELINE_IMPOSSIBLE || field == FIELD_ID_IMPOSSIBLE;
}

/*
 * A value as JSON has it. Text is not quoted yet; digits are, exactly, what the number is. A range
 * has its smallest and largest value, CPU sets their list and smallest and largest number of CPUs.
 */
enum field_form { FORM_NULL, FORM_DIGITS, FORM_REAL, FORM_TEXT, FORM_RANGE_OF, FORM_CPUS };

struct field_value {
	enum field_form form;
	char digits[80];
	double real;
	struct text text;
	const struct datum *datum; /* of a range, and of CPUs */
};

/* One field of a row. Texts point into the row, or into `ret`; percentages are in percent. */
void row_field(const struct row *row, enum row_field field, struct field_value *ret);

/* False stops the walk. */
typedef bool (*row_take)(void *context, const char *section, const struct row *row);

/* The rows of all row_groups of a section. False when `take` returned it. */
bool report_section_each(const struct report_section *section, row_take take, void *context);

/* Those of the sections of a report in their order, and then, as rows of the sections
 * "only-baseline" and "only-candidate", those of the groups that one side has. False also without
 * memory. */
bool rows_each(const struct report *report, row_take take, void *context);

#endif
