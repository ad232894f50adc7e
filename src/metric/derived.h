/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics computed from what a group adds up to, one row each in derived.def.
 *
 * Only totals are divided. Whether a derived metric has a value depends on its inputs: one that was
 * not measured, or a divisor of zero, leaves it without.
 */
#ifndef METRIC_DERIVED_H
#define METRIC_DERIVED_H

#include "metric/datum.h"
#include "metric/metric.h"

#define DERIVED_DELAYS 8

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
	enum section section;
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
 * The inputs of a derived metric, added up over the threads of a group. Only threads count that
 * have both inputs measured: a quotient of some threads' time and other threads' events means
 * nothing. Of the delays, each counts wherever it was measured, so their sum is a lower bound.
 */
struct derived_sum {
	__int128 a, b;
	__int128 delays[DERIVED_DELAYS]; /* of DERIVED_OFFCPU */
	size_t measured, threads;
	size_t impossible; /* threads with an input that cannot be */
	uint8_t had;       /* the delays that some thread had, a bit for each */
	bool mixed_delays; /* not all threads had the same */
};

/*
 * Add a thread; its metrics in `impossible` have impossible values (NULL: none). A sum starts as
 * all zero.
 *
 * Totals in `with_waits` include the elapsed time of waits in progress (metric_unaccounted).
 * Amounts per event never include it, since the divisor counts only waits that have ended.
 */
void derived_add(struct derived_sum *sum, const struct derived *derived,
		 const struct thread_record *thread, const struct metric_set *with_waits,
		 const struct metric_set *impossible);

/* Does what has passed of this total's waits count in it? */
bool derived_takes_waits(const struct derived *derived, const struct metric *total);

/*
 * The difference of two sums, for quotients, ratios and shares over that time only. The threads of
 * `after` are those of `before`, and new ones. Differences and sums of delays keep their values at
 * the end.
 *
 * A wait that was in progress and then accounted was measured by two clocks that were read one
 * after the other: parts of a share that seem to have shrunk count as unchanged.
 */
struct derived_sum derived_between(const struct derived_sum *before,
				   const struct derived_sum *after, const struct derived *derived);

/* The value: none when no thread had the inputs, or the divisor is zero. */
struct datum derived_datum(const struct derived_sum *sum, const struct derived *derived);

/* The formula in words, "wait_sum / wait_count"; returns `buffer`. */
#define DERIVED_FORMULA_MAX 160
char *derived_formula(char *buffer, const struct derived *derived);

#endif
