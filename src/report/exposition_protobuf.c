/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each series is packed as a family of its own with one series, and the pieces of a family are
 * written after their total length (base/protobuf.h).
 */
#include <metrics.pb-c.h>
#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"
#include "base/varint.h"
#include "report/exposition.h"
#include "report/native_histogram.h"
#include "report/openmetrics_text.h"

/* Messages of one series. They are reused for the next, since each series is packed at once. */
struct protobuf_writer {
	struct {
		ARRAY(unsigned char);
	} packed; /* all series of the family so far */
	char *values[METRIC_LABELS];
	Prometheus__LabelPair labels[METRIC_LABELS], *label_pointers[METRIC_LABELS];
	struct native_histogram native;
	Prometheus__Bucket buckets[METRIC_BUCKETS_MAX], *bucket_pointers[METRIC_BUCKETS_MAX];
	Prometheus__BucketSpan spans[NATIVE_BUCKETS_MAX], *span_pointers[NATIVE_BUCKETS_MAX];
	int64_t deltas[NATIVE_BUCKETS_MAX];
};

/* --- a series --- */

static void forget_labels(struct protobuf_writer *w)
{
	for (size_t i = 0; i < METRIC_LABELS; i++) {
		free(w->values[i]);
		w->values[i] = NULL;
	}
}

static bool put_labels(struct protobuf_writer *w, const struct metric_series *series,
		       Prometheus__Metric *metric)
{
	metric->label = w->label_pointers;
	for (size_t i = 0; i < METRIC_LABELS && series->labels[i].name; i++) {
		const struct metric_label *from = &series->labels[i];
		Prometheus__LabelPair *to = &w->labels[metric->n_label];

		if (!from->value.length)
			continue;
		w->values[i] = openmetrics_clean(from->value);
		if (!w->values[i])
			return false;
		*to = (Prometheus__LabelPair)PROMETHEUS__LABEL_PAIR__INIT;
		to->name = (char *)(uintptr_t)from->name;
		to->value = w->values[i];
		w->label_pointers[metric->n_label++] = to;
	}
	return true;
}

static void put_classic(struct protobuf_writer *w, const struct metric_family *family,
			const struct histogram *from, Prometheus__Histogram *to)
{
	const struct metric_ladder *ladder = metric_ladder_of(family);
	const double scale = (double)metric_scale(family->decimals);
	uint64_t counts[METRIC_BUCKETS_MAX];

	metric_buckets(ladder, from, counts);
	for (unsigned b = 0; b < ladder->buckets; b++) {
		w->buckets[b] = (Prometheus__Bucket)PROMETHEUS__BUCKET__INIT;
		w->buckets[b].cumulative_count = counts[b];
		w->buckets[b].upper_bound = (double)metric_bucket_bound(ladder, b) / scale;
		w->bucket_pointers[b] = &w->buckets[b];
	}
	to->n_bucket = ladder->buckets;
	to->bucket = w->bucket_pointers;
}

/* Prometheus takes a histogram without spans for a classic one, so an empty native histogram has an
 * empty span. */
static void put_native(struct protobuf_writer *w, const struct metric_family *family,
		       const struct histogram *from, Prometheus__Histogram *to)
{
	const struct native_scale scale = { metric_scale(family->decimals),
					    metric_bucket_bound(metric_ladder_of(family), 0) + 1 };
	struct native_histogram *native = &w->native;
	uint64_t before = 0;

	native_histogram_of(from, &scale, native);
	if (!native->span_count)
		native->spans[native->span_count++] = (struct native_span){ 0 };
	for (unsigned s = 0; s < native->span_count; s++) {
		w->spans[s] = (Prometheus__BucketSpan)PROMETHEUS__BUCKET_SPAN__INIT;
		w->spans[s].offset = native->spans[s].offset;
		w->spans[s].length = native->spans[s].length;
		w->span_pointers[s] = &w->spans[s];
	}
	for (unsigned b = 0; b < native->bucket_count; b++) {
		w->deltas[b] = (int64_t)(native->buckets[b] - before);
		before = native->buckets[b];
	}
	to->sample_count = native->count;
	to->sample_sum = native->sum;
	to->schema = native->schema;
	to->zero_threshold = (double)scale.zero / (double)scale.unit;
	to->zero_count = native->zero_count;
	to->n_positive_span = native->span_count;
	to->positive_span = w->span_pointers;
	to->n_positive_delta = native->bucket_count;
	to->positive_delta = w->deltas;
}

static double scaled(uint64_t number, unsigned decimals)
{
	return (double)number / (double)metric_scale(decimals);
}

static bool put_series(struct protobuf_writer *w, const struct metric_family *family,
		       const struct metric_series *series)
{
	Prometheus__Metric metric = PROMETHEUS__METRIC__INIT, *pointer = &metric;
	Prometheus__Counter counter = PROMETHEUS__COUNTER__INIT;
	Prometheus__Gauge gauge = PROMETHEUS__GAUGE__INIT;
	Prometheus__Histogram histogram = PROMETHEUS__HISTOGRAM__INIT;
	Prometheus__MetricFamily piece = PROMETHEUS__METRIC_FAMILY__INIT;

	if (!put_labels(w, series, &metric))
		return false;
	switch (family->type) {
	case METRIC_COUNTER:
		counter.value = scaled(series->number, family->decimals);
		metric.counter = &counter;
		break;
	case METRIC_GAUGE:
		gauge.value = scaled(series->number, family->decimals);
		metric.gauge = &gauge;
		break;
	case METRIC_HISTOGRAM:
		put_classic(w, family, series->histogram, &histogram);
		put_native(w, family, series->histogram, &histogram);
		metric.histogram = &histogram;
		break;
	}
	piece.n_metric = 1;
	piece.metric = &pointer;
	return protobuf_append(&w->packed, &piece);
}

/* --- a family --- */

static const Prometheus__MetricType types[] = {
	[METRIC_COUNTER] = PROMETHEUS__METRIC_TYPE__COUNTER,
	[METRIC_GAUGE] = PROMETHEUS__METRIC_TYPE__GAUGE,
	[METRIC_HISTOGRAM] = PROMETHEUS__METRIC_TYPE__HISTOGRAM,
};

static bool put_head(struct protobuf_writer *w, const struct metric_family *family)
{
	Prometheus__MetricFamily piece = PROMETHEUS__METRIC_FAMILY__INIT;
	_cleanup_free_ char *name =
		text_print("%s%s", family->name, family->type == METRIC_COUNTER ? "_total" : "");

	if (!name)
		return false;
	piece.name = name;
	piece.help = (char *)(uintptr_t)family->help;
	piece.type = types[family->type];
	return protobuf_append(&w->packed, &piece);
}

static bool put_family(struct protobuf_writer *w, const struct metric_family *family)
{
	bool is_done;

	w->packed.count = 0;
	is_done = put_head(w, family);
	for (size_t i = 0; is_done && i < family->series.count; i++) {
		is_done = put_series(w, family, &family->series.items[i]);
		forget_labels(w);
	}
	return is_done;
}

struct error *exposition_print_protobuf(FILE *out, const struct metric_families *families)
{
	struct protobuf_writer *w = calloc(1, sizeof(*w));
	char length[VARINT_MAX];
	bool is_done = w;

	for (size_t i = 0; is_done && i < families->count; i++) {
		if (!families->items[i].series.count)
			continue;
		is_done = put_family(w, &families->items[i]);
		fwrite(length, 1, (size_t)(varint_write(length, w->packed.count) - length), out);
		fwrite(w->packed.items, 1, w->packed.count, out);
	}
	if (w)
		array_deinit(&w->packed);
	free(w);
	return is_done ? NULL : &error_no_memory;
}
