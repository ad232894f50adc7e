/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of threads, a line each, with the numbers that people look for first: what it ran, what it
 * waited for, what it read and wrote, and its memory. All other metrics of a group are rows of the
 * tables of metrics.
 */
#ifndef REPORT_GROUP_TABLE_H
#define REPORT_GROUP_TABLE_H

#include "compare/report.h"
#include "report/table.h"

/* COLUMN(heading, which is left out first where the terminal is narrow, its metric, and one with
 * the same meaning for files without it; COUNT: none) */
#define GROUP_COLUMNS(COLUMN)                                       \
	COLUMN("CPU time", 0, run_time_ns, COUNT)                   \
	COLUMN("CPU wait", 0, wait_time_ns, wait_sum)               \
	COLUMN("storage wait", 0, blkio_delay_total_ns, iowait_sum) \
	COLUMN("lock wait", 0, state_lock_ns, COUNT)                \
	COLUMN("majflt", 2, majflt, COUNT)                          \
	COLUMN("read", 1, read_bytes, COUNT)                        \
	COLUMN("written", 1, write_bytes, COUNT)                    \
	COLUMN("RSS peak", 3, hiwater_rss_bytes, COUNT)

/* Print `groups`, whose key numbers are `keys`, in that order, and how many are left out. Columns
 * that no group has are not there; the metrics that groups are ranked by are. */
struct error *group_table_print(const struct report *report, const struct group *const *groups,
				const uint32_t *keys, size_t count, size_t left_out,
				struct table_options options) MUST_CHECK;

/* All groups of one snapshot, in the order of the report, as many as the view allows. */
struct error *group_table_print_all(const struct report *report,
				    struct table_options options) MUST_CHECK;

#endif
