/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics of kstats for Prometheus and its kin: OpenMetrics text (the specification of OpenMetrics
 * 1.0, "Histogram"), for a file that node_exporter's textfile collector reads, or for curl.
 *
 * Nanoseconds become seconds, the base unit there. `le` bounds are the ends of slots, and exact:
 * all values are whole numbers, so "at most the largest of a slot" cuts between slots.
 */
#ifndef EXPORT_OPENMETRICS_H
#define EXPORT_OPENMETRICS_H

#include <stdio.h>

#include "kstats/file.h"

/*
 * All of them, by name, and the end mark. Hosts are told apart by a label, processes of "PID:NAME"
 * by another, and so are metrics whose names are not possible there ("a-b"); the same metric of the
 * same host twice is an error, before anything is printed.
 *
 * `native`: as native histograms in the text of OpenMetrics 2.0, with as many buckets in a power of
 * two as there are slots; those are spaced by the logarithm and slots are not, so values may be
 * counted one bucket from where they belong, which HELP says.
 */
struct error *openmetrics_print(FILE *out, const struct kstats_tables *tables,
				bool native) MUST_CHECK;

#endif
