/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What moved most, of many metrics that are compared: a line for each, the most significant first.
 *
 * Metrics are ordered by the factor by which one of their percentiles has moved at least, beyond
 * chance (kstats/shift.h): a p99 that is three times as large comes before a p50 that is twice as
 * large, and what may be chance comes last, however large it is.
 */
#ifndef REPORT_KSTATS_SHIFT_OVERVIEW_H
#define REPORT_KSTATS_SHIFT_OVERVIEW_H

#include <stdio.h>

#include "kstats/shift.h"

/* A metric on both sides, with the same frac_bits. */
struct kstats_shift_line {
	const struct kstats_table *before, *after;
	char *title;
	struct kstats_shift_side {
		uint64_t count;
		uint64_t p50, p99; /* upper bounds; KSTATS_SHIFT_NONE: too few values */
	} old, new;
	const char *quantity; /* the percentile that moved most beyond chance; NULL: none did */
	double factor;        /* by so much, at least 1 */
	struct kstats_shares change; /* of `quantity` */
};
#define KSTATS_SHIFT_NONE UINT64_MAX

/* To be cleared, also after an error. */
struct error *kstats_shift_line_of(const struct kstats_table *before,
				   const struct kstats_table *after,
				   struct kstats_shift_line *ret) MUST_CHECK;
void kstats_shift_line_clear(struct kstats_shift_line *line);

/* The most significant first; of equal ones, by title. */
void kstats_shift_sort(struct kstats_shift_line *lines, size_t count);

/* The first `limit` of them as a table, and how many more there are. `width`: of the terminal, or
 * 0. */
struct error *kstats_shift_overview(FILE *out, const struct kstats_shift_line *lines, size_t count,
				    size_t limit, size_t width) MUST_CHECK;

#endif
