/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a metric was not measured, in words, and what to do about it.
 */
#ifndef REPORT_REASONS_H
#define REPORT_REASONS_H

#include <stdio.h>

#include "snapshot/model.h"

/*
 * Why no thread of the snapshot has this metric, or not every one has, as far as the snapshot can
 * tell. Never NULL.
 * `missing` is what metrics_missing says of it.
 */
const char *metric_reason(const struct ctprof_snapshot *snapshot, const struct metric_set *missing,
			  const struct metric *metric);

/* The metrics that no thread of the snapshot has. Thread states are left out, except in recordings
 * of ctprof top: other captures do not measure them. */
struct metric_set metrics_missing(const struct ctprof_snapshot *snapshot);

/* "WHAT: wait_sum, wait_count and 17 more (needs ...)", a line for each reason, of the metrics in
 * `which`. */
void reasons_print(FILE *out, const char *what, const struct ctprof_snapshot *snapshot,
		   const struct metric_set *which);

/* The same shortly, for one line: "19 metrics (SCHEDSTATS), 28 (TASK_DELAY_ACCT)"; "nothing" when
 * everything was measured. */
void reasons_summary(char *buffer, size_t size, const struct ctprof_snapshot *snapshot);

/* The number of metrics that the summary counts. */
size_t reasons_count(const struct ctprof_snapshot *snapshot);

#endif
