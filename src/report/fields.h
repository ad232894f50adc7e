/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of a row for programs, the same in JSON and in CSV: raw numbers, exact.
 */
#ifndef REPORT_FIELDS_H
#define REPORT_FIELDS_H

#include "compare/report.h"
#include "report/table.h"

/* When rows have a field. */
enum {
	FIELDS_SHOW = 1,    /* of one snapshot */
	FIELDS_COMPARE = 2, /* of two */
	FIELDS_SHARES = 4,  /* with shares of the host's change */
	FIELDS_REPEATS = 8, /* of several captures on a side */
	FIELDS_RATES = 16,  /* of a window, with rates before it */
	FIELDS_ALL = FIELDS_SHOW | FIELDS_COMPARE,
};

/* FIELD(id, name, when, how: .rare fields are left out of JSON where they are unknown) */
#define ROW_FIELDS(FIELD)                                                                       \
	FIELD(SECTION, "section", FIELDS_ALL)                                                   \
	FIELD(GROUP, "group", FIELDS_ALL)                                                       \
	FIELD(METRIC, "metric", FIELDS_ALL)                                                     \
	FIELD(UNIT, "unit", FIELDS_ALL)                                                         \
	FIELD(VALUE, "value", FIELDS_SHOW)                                                      \
	FIELD(BASELINE, "baseline", FIELDS_COMPARE)                                             \
	FIELD(CANDIDATE, "candidate", FIELDS_COMPARE)                                           \
	FIELD(DELTA, "delta", FIELDS_COMPARE)                                                   \
	FIELD(PERCENT, "pct", FIELDS_COMPARE)                                                   \
	FIELD(SHARE, "share", FIELDS_SHARES)                                                    \
	FIELD(RATE_BEFORE, "baseline_per_s", FIELDS_RATES, RARE_IN_JSON)                        \
	FIELD(BASELINE_SPREAD, "baseline_spread", FIELDS_REPEATS)                               \
	FIELD(CANDIDATE_SPREAD, "candidate_spread", FIELDS_REPEATS)                             \
	FIELD(BASELINE_VALUES, "baseline_values", FIELDS_REPEATS)                               \
	FIELD(CANDIDATE_VALUES, "candidate_values", FIELDS_REPEATS)                             \
	FIELD(PROBABILITY, "p", FIELDS_REPEATS)                                                 \
	FIELD(BASELINE_THREADS, "baseline_threads", FIELDS_COMPARE)                             \
	FIELD(BASELINE_MEASURED, "baseline_measured_threads", FIELDS_COMPARE)                   \
	FIELD(THREADS, "threads", FIELDS_ALL)                                                   \
	FIELD(MEASURED, "measured_threads", FIELDS_ALL)                                         \
	FIELD(BASELINE_IMPOSSIBLE, "baseline_impossible_threads", FIELDS_COMPARE, .rare = true) \
	FIELD(IMPOSSIBLE, "impossible_threads", FIELDS_ALL, .rare = true)                       \
	FIELD(BASELINE_DELAYS, "baseline_measured_delays", FIELDS_ALL, RARE_IN_JSON)            \
	FIELD(BASELINE_AGREEING, "baseline_agreeing_threads", FIELDS_ALL, RARE_IN_JSON)         \
	FIELD(DELAYS, "measured_delays", FIELDS_ALL, RARE_IN_JSON)                              \
	FIELD(AGREEING, "agreeing_threads", FIELDS_ALL, RARE_IN_JSON)
#define RARE_IN_JSON .rare = true, .formats = TABLE_FOR_JSON

enum row_field {
#define FIELD(id, ...) FIELD_ID_##id,
	ROW_FIELDS(FIELD)
#undef FIELD
		ROW_FIELD_COUNT
};

/*
 * A table of the rows of a section; of the whole report when that is NULL: of its sections in their
 * order, and then, as sections "only-baseline" and "only-candidate", of the groups that one side
 * has. `options` say format and place.
 */
struct error *fields_print(const struct report *report, const struct report_section *section,
			   struct table_options options) MUST_CHECK;

/* Get a field of a row. Texts point into the row or into `ret`; percentages are in percent. */
void row_field(const struct row *row, enum row_field field, struct table_cell *ret);

/* The digits of a numeric field, for table_cell.exact: times in ns, amounts in bytes, so rows of
 * one dimension can be sorted. Empty: the field is no number. */
void row_exact(const struct row *row, enum row_field field, char ret[TABLE_DIGITS_MAX]);

#endif
