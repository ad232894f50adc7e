/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics of kstats as parts of a page (report/page.h): histograms as pictures, and below them what
 * `kstats show` and `kstats compare` print.
 */
#ifndef REPORT_KSTATS_PAGE_H
#define REPORT_KSTATS_PAGE_H

#include <stdio.h>

#include "kstats/table.h"

/* One metric; or, with `before`, of the same frac_bits, how it moved. */
struct error *kstats_page_print(FILE *out, const struct kstats_table *before,
				const struct kstats_table *after) MUST_CHECK;

/* Readings of one metric, in the order of time: a heat map with a column for each. Of readings that
 * are of one recording, a column has what came since the one before. Fewer than three have none. */
struct error *kstats_page_heat(FILE *out, const struct kstats_table *const *readings,
			       size_t count) MUST_CHECK;

#endif
