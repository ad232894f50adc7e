/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics of kstats as parts of a page (report/page.h): histograms as pictures, and below them the
 * text of `kstats show` and `kstats compare`. Functions fail only without memory.
 */
#ifndef REPORT_KSTATS_PAGE_H
#define REPORT_KSTATS_PAGE_H

#include <stdio.h>

#include "kstats/table.h"

/* Print one metric. With `before`, which must have the same frac_bits, print how its distribution
 * shifted. */
struct error *kstats_page_print(FILE *out, const struct kstats_table *before,
				const struct kstats_table *after) MUST_CHECK;

/* Print a heat map of one metric from readings in the order of time, one column per reading. A
 * column has the values since the reading before if both are of one recording, else all values of
 * the reading. Prints nothing for fewer than three readings. */
struct error *kstats_page_heat(FILE *out, const struct kstats_table *const *readings,
			       size_t count) MUST_CHECK;

#endif
