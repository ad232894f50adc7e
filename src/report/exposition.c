/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exposition.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/openmetrics_text.h"

void metric_families_deinit(struct metric_families *families)
{
	for (size_t i = 0; i < families->count; i++)
		array_deinit(&families->items[i].series);
	array_deinit(families);
}

/* --- classic buckets --- */

/* Bounds of classic buckets are 2^10, 2^12, ... 2^34 ns: 1 us to 17 s. */
#define FIRST_BITS 10
#define STEP_BITS  2

uint64_t metric_bucket_bound(unsigned bucket)
{
	return ((uint64_t)1 << (FIRST_BITS + STEP_BITS * bucket)) - 1;
}

void metric_buckets(const struct histogram *histogram, uint64_t ret[METRIC_BUCKETS])
{
	uint64_t passed = 0;
	unsigned slot = 0;

	for (unsigned b = 0; b < METRIC_BUCKETS; b++) {
		for (; bucket_high(slot, histogram->frac_bits) <= metric_bucket_bound(b); slot++)
			passed += histogram->slots[slot];
		ret[b] = passed;
	}
}

/* --- text --- */

static bool print_labels(FILE *out, const struct metric_series *series, const char *bound)
{
	const char *before = "{";

	for (const struct metric_label *l = series->labels;
	     l < series->labels + METRIC_LABELS && l->name; l++) {
		_cleanup_free_ char *cleaned = openmetrics_clean(l->value);

		if (!cleaned)
			return false;
		if (!l->value.length)
			continue;
		fprintf(out, "%s%s=\"", before, l->name);
		openmetrics_print_escaped(out, cleaned);
		fputc('"', out);
		before = ",";
	}
	if (bound)
		fprintf(out, "%sle=\"%s\"", before, bound);
	if (bound || *before == ',')
		fputc('}', out);
	return true;
}

static bool print_sample(FILE *out, const struct metric_family *family,
			 const struct metric_series *series, const char *suffix, const char *bound)
{
	fprintf(out, "%s%s", family->name, suffix);
	if (!print_labels(out, series, bound))
		return false;
	fputc(' ', out);
	return true;
}

static void print_number(FILE *out, uint64_t number, unsigned decimals)
{
	uint64_t scale = 1;

	for (unsigned i = 0; i < decimals; i++)
		scale *= 10;
	fprintf(out, "%" PRIu64, number / scale);
	if (decimals)
		fprintf(out, ".%0*" PRIu64, (int)decimals, number % scale);
	fputc('\n', out);
}

/* Bounds are written as Prometheus writes those it reads from protobuf, so that series have the
 * same labels in all formats. */
static bool print_histogram(FILE *out, const struct metric_family *family,
			    const struct metric_series *series)
{
	const struct histogram *histogram = series->histogram;
	uint64_t counts[METRIC_BUCKETS];
	char bound[UNITS_TEXT_MAX];
	bool is_done = true;

	metric_buckets(histogram, counts);
	for (unsigned b = 0; is_done && b < METRIC_BUCKETS; b++) {
		snprintf(bound, sizeof(bound), "%.15g", (double)metric_bucket_bound(b) / NS_PER_S);
		is_done = print_sample(out, family, series, "_bucket", bound);
		print_number(out, counts[b], 0);
	}
	is_done = is_done && print_sample(out, family, series, "_bucket", "+Inf");
	print_number(out, histogram->count, 0);
	is_done = is_done && print_sample(out, family, series, "_sum", NULL);
	print_number(out, histogram->sum, 9);
	is_done = is_done && print_sample(out, family, series, "_count", NULL);
	print_number(out, histogram->count, 0);
	return is_done;
}

static const char *const types[] = {
	[METRIC_COUNTER] = "counter",
	[METRIC_GAUGE] = "gauge",
	[METRIC_HISTOGRAM] = "histogram",
};

static bool print_family(FILE *out, const struct metric_family *family, bool is_openmetrics)
{
	const char *suffix = family->type == METRIC_COUNTER ? "_total" : "";
	const char *of_name = is_openmetrics ? "" : suffix;
	bool is_done = true;

	fprintf(out, "# HELP %s%s %s\n", family->name, of_name, family->help);
	fprintf(out, "# TYPE %s%s %s\n", family->name, of_name, types[family->type]);
	if (is_openmetrics && family->unit)
		fprintf(out, "# UNIT %s %s\n", family->name, family->unit);
	for (size_t i = 0; is_done && i < family->series.count; i++) {
		const struct metric_series *series = &family->series.items[i];

		if (family->type == METRIC_HISTOGRAM) {
			is_done = print_histogram(out, family, series);
		} else {
			is_done = print_sample(out, family, series, suffix, NULL);
			print_number(out, series->number, family->decimals);
		}
	}
	return is_done;
}

/* Families without series were not measured, and are left out. */
static struct error *print_families(FILE *out, const struct metric_families *families,
				    bool is_openmetrics)
{
	for (size_t i = 0; i < families->count; i++)
		if (families->items[i].series.count &&
		    !print_family(out, &families->items[i], is_openmetrics))
			return &error_no_memory;
	return NULL;
}

static struct error *print_text(FILE *out, const struct metric_families *families)
{
	return print_families(out, families, false);
}

static struct error *print_openmetrics(FILE *out, const struct metric_families *families)
{
	struct error *err = print_families(out, families, true);

	if (!err)
		fputs("# EOF\n", out);
	return err;
}

#define PROTOBUF_TYPE "application/vnd.google.protobuf"
#define PROTOBUF_NAME "io.prometheus.client.MetricFamily"

const struct exposition_row expositions[EXPOSITION_COUNT] = {
	[EXPOSITION_TEXT] = { "text/plain", "version", "0.0.4",
			      "text/plain; version=0.0.4; charset=utf-8", print_text },
	[EXPOSITION_OPENMETRICS] = { "application/openmetrics-text", "version", "1.0.0",
				     "application/openmetrics-text; version=1.0.0; charset=utf-8",
				     print_openmetrics },
	[EXPOSITION_PROTOBUF] = { PROTOBUF_TYPE, "proto", PROTOBUF_NAME,
				  PROTOBUF_TYPE "; proto=" PROTOBUF_NAME "; encoding=delimited",
				  exposition_print_protobuf },
};
