/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics computed from what a group adds up to, one row each in derived.def.
 *
 * Only totals are divided. Whether a derived metric has a value depends on its inputs: one that was
 * not measured, or a divisor of zero, leaves it without.
 */
#ifndef METRIC_DERIVED_H
#define METRIC_DERIVED_H

#include "metric/aggregate.h"

enum derived_form {
	DERIVED_QUOTIENT,   /* a / b: an amount of a's unit for each event */
	DERIVED_RATIO,      /* a / b of one unit */
	DERIVED_SHARE,      /* a / (a + b) of one unit */
	DERIVED_DIFFERENCE, /* a - b of one unit */
	DERIVED_OFFCPU,     /* the sum of all delays */
};

struct derived {
	const char *name;
	enum derived_form form;
	enum unit unit; /* of the result; UNIT_NONE for ratios and shares */
	bool is_ratio;  /* no percentages of it */
	const struct metric *a,
		*b; /* inputs; NULL for DERIVED_OFFCPU, which takes every *_delay_total_ns */
	enum metric_section section;
	const char *prose, *caveat; /* caveat: "" when there is none */
};

enum derived_id {
#define QUOTIENT(name, ...)   DERIVED_ID_##name,
#define RATIO(name, ...)      DERIVED_ID_##name,
#define SHARE(name, ...)      DERIVED_ID_##name,
#define DIFFERENCE(name, ...) DERIVED_ID_##name,
#define OFFCPU(name, ...)     DERIVED_ID_##name,
#include "metric/derived.def"
#undef QUOTIENT
#undef RATIO
#undef SHARE
#undef DIFFERENCE
#undef OFFCPU
	DERIVED_COUNT
};

extern const struct derived derived_metrics[DERIVED_COUNT];

/*
 * The value for a group, from its METRIC_COUNT aggregates. False when it cannot be computed: an
 * input was measured in no thread, or the divisor is zero. The sum of delays takes what was
 * measured, and has no value only when nothing was.
 */
bool derived_value(const struct derived *derived, const struct aggregate *values, double *ret);

/* The formula in words, "wait_sum / wait_count"; returns `buffer`. */
#define DERIVED_FORMULA_MAX 160
char *derived_formula(char *buffer, const struct derived *derived);

#endif
