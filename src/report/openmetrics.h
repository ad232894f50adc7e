/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics of kstats for Prometheus and compatible programs: OpenMetrics text (the specification of
 * OpenMetrics 1.0, "Histogram"), for a file that node_exporter's textfile collector reads, or for
 * curl.
 *
 * Nanoseconds become seconds, the base unit there. `le` bounds are the same in every histogram of a
 * unit, so that they can be added up, and exact where there are two bits or more: they are the ends
 * of slots, and all values are whole numbers.
 *
 * The older text format of Prometheus reads the same (its parsers take OpenMetrics' other lines for
 * comments), so this is for a file that node_exporter's textfile collector reads, too.
 */
#ifndef REPORT_OPENMETRICS_H
#define REPORT_OPENMETRICS_H

#include <stdio.h>

#include "kstats/file.h"

/*
 * Print all tables, ordered by name, and the end mark. Labels distinguish hosts, the processes that
 * have a metric (`instance`), and metrics whose names OpenMetrics does not allow ("a-b"). `rows`:
 * each row is a series, with the labels of its CPU, process or other group. Two series with the
 * same labels are an error, before anything is printed.
 */
struct error *openmetrics_print(FILE *out, const struct kstats_tables *tables,
				bool rows) MUST_CHECK;

#endif
