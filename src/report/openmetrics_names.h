/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What metrics of kstats are called for Prometheus: the names of their families, and the labels of
 * their series, in files (openmetrics.h) as in answers of a server (serve/metric_kstats.h).
 *
 *	err = openmetrics_metrics_of(&tables, &metrics);
 *	err = openmetrics_labels_of(&metrics.items[i], NULL, false, &labels);
 *	openmetrics_labels_clear(&labels);
 *	openmetrics_metrics_clear(&metrics);
 */
#ifndef REPORT_OPENMETRICS_NAMES_H
#define REPORT_OPENMETRICS_NAMES_H

#include "kstats/file.h"

/* Our own families, besides those that are named by metrics: what is in no bucket. */
#define OPENMETRICS_LOST         "ctprof_kstats_lost"
#define OPENMETRICS_LOST_HELP    "events that are in no bucket"
#define OPENMETRICS_EARLIER      "ctprof_kstats_earlier"
#define OPENMETRICS_EARLIER_HELP KSTATS_EARLIER

/* Are its values nanoseconds, which are exported in seconds? */
bool openmetrics_is_time(const struct kstats_table *table);

struct openmetrics_metric {
	const struct kstats_table *table;
	char *family;    /* metrics of one name are a family */
	bool is_renamed; /* ... which is another than that of the metric: a label says which */
	bool is_mixed;   /* others of the family are of other places: labels say which */
};

struct openmetrics_metrics {
	ARRAY(struct openmetrics_metric);
};

/* Ordered by family. The tables stay the caller's. To be cleared, also after an error. */
struct error *openmetrics_metrics_of(const struct kstats_tables *tables,
				     struct openmetrics_metrics *ret) MUST_CHECK;
void openmetrics_metrics_clear(struct openmetrics_metrics *metrics);

/* What is measured, for the line HELP. Without quotes: OpenMetrics has an escape for them there,
 * which the older text format refuses. NULL: no memory. */
char *openmetrics_help(const struct openmetrics_metric *metric);

struct openmetrics_label {
	char *name, *value; /* value: as it is, not escaped */
};

struct openmetrics_labels {
	ARRAY(struct openmetrics_label);
};

/* Of all rows together, or of `row`; `is_named`: with the name of the metric, whatever its family
 * is called. Each label is there once. */
struct error *openmetrics_labels_of(const struct openmetrics_metric *metric,
				    const struct kstats_row *row, bool is_named,
				    struct openmetrics_labels *ret) MUST_CHECK;
void openmetrics_labels_clear(struct openmetrics_labels *labels);

#endif
