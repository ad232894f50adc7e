/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the distribution of a metric moved between two readings, as people read it, as CSV and as
 * JSON. Both tables have the same frac_bits.
 */
#ifndef REPORT_KSTATS_SHIFT_REPORT_H
#define REPORT_KSTATS_SHIFT_REPORT_H

#include <stdio.h>

#include "base/json_writer.h"
#include "kstats/shift.h"

/* The name of a pair: "reads", or "reads -> writes". Allocated; NULL: no memory. */
char *kstats_shift_title(const struct kstats_table *before, const struct kstats_table *after);

/* A row for each percentile that both sides have enough values for, and for the mean: the shift
 * with its confidence. `width`: of the terminal, or 0. */
struct error *kstats_shift_text(FILE *out, const struct kstats_table *before,
				const struct kstats_table *after, size_t width) MUST_CHECK;

/* "name,quantity,before_count,after_count,before_low,before_high,after_low,after_high,shift_low,
 * shift_high,verdict": the same rows. */
struct error *kstats_shift_csv(FILE *out, const struct kstats_table *before,
			       const struct kstats_table *after, bool no_heading) MUST_CHECK;

/* An object, with the same rows in it. */
struct error *kstats_shift_json(struct json_writer *w, const struct kstats_table *before,
				const struct kstats_table *after) MUST_CHECK;

#endif
