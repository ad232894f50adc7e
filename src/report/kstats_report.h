/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics of kstats as people read them, and as CSV.
 */
#ifndef REPORT_KSTATS_REPORT_H
#define REPORT_KSTATS_REPORT_H

#include <stdio.h>

#include "kstats/table.h"

struct kstats_style {
	bool utf8;
	/* Each CPU (process, cgroup, returned value) apart, after all together: a line each, or
	 * with all slots a histogram each. */
	bool rows;
	bool all_rows; /* and not the most important ones only */
	/* Lines of a histogram, at most; 0: every bucket in use. */
	size_t lines;
	size_t width; /* of the terminal, that bars end before; 0: any */
};

/* Percentiles with their bounds, a histogram, and what was lost. */
struct error *kstats_report_text(FILE *out, const struct kstats_table *table,
				 const struct kstats_style *style) MUST_CHECK;

/* "name,by,id,label,slot,low,high,count,mean": rows of slots that are not empty.
 * Of intervals with "at_unix_ns,window_ns," in front: the interval's end and its length. */
struct error *kstats_report_csv_heading(FILE *out, bool of_intervals) MUST_CHECK;
struct error *kstats_report_csv(FILE *out, const struct kstats_table *table) MUST_CHECK;

#endif
