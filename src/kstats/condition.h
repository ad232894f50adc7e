/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions that a comparison of metrics must not meet: `kstats compare --fail-if EXPR`, in the
 * grammar of all comparisons (base/condition_text.h).
 *
 *	p99 > 10%		the p99 of any metric rose by more than 10 % of what it was
 *	reads:max >= 5ms	... the maximum of reads by 5 ms or more
 *	count < -50%		... the number of values fell by more than half
 *
 * GROUP is a glob over names of metrics ("NAME", "PID:NAME"). NAME is p0 to p100, max, mean, count
 * or lost. BOUND is a change: after less before, or that in percent of before.
 *
 * Buckets tell a percentile with bounds only, so there are three answers, as for an SLO. Whether a
 * change may be chance is not judged.
 */
#ifndef KSTATS_CONDITION_H
#define KSTATS_CONDITION_H

#include "base/condition_text.h"
#include "base/units.h"
#include "kstats/slo.h"

struct kstats_condition {
	const char *text; /* as the user wrote it */
	char *group;      /* allocated; NULL: all metrics */
	struct kstats_aspect aspect;
	enum condition_operator operator;
	struct amount bound;
};

/* `text` stays the caller's. To be cleared. */
struct error *kstats_condition_parse(const char *text, struct kstats_condition *ret) MUST_CHECK;
void kstats_condition_clear(struct kstats_condition *condition);

bool kstats_condition_is_about(const struct kstats_condition *condition, const char *title);

/* KSTATS_BROKEN: the change meets the condition, whatever the values in their buckets are.
 * Undecided too if one side has too few values for the percentile. `ret` gets the change, in
 * percent if the condition is, otherwise in the unit of values; it is NAN where it is unknown. */
enum kstats_verdict kstats_condition_judge(const struct kstats_condition *condition,
					   const struct kstats_table *before,
					   const struct kstats_table *after,
					   const struct kstats_distribution *old,
					   const struct kstats_distribution *new,
					   struct kstats_measured *ret);

#endif
