/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bars of a histogram, in as many lines as are wanted.
 *
 * Rows are slots, or as many halved bits of them coarser as it takes: from 2^frac_bits rows for
 * each power of two down to one, then a row for 2, 4, 8, ... powers of two. Every value is in a
 * row, whatever the height of the screen.
 */
#ifndef REPORT_KSTATS_HISTOGRAM_H
#define REPORT_KSTATS_HISTOGRAM_H

#include "kstats/distribution.h"
#include "report/kstats_report.h"

/* A distribution that is not empty: each row with its bounds, count, share and bar. */
struct error *kstats_histogram_print(FILE *out, const struct kstats_table *table,
				     const struct kstats_distribution *of,
				     const struct kstats_style *style) MUST_CHECK;

#endif
