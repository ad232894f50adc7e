/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exposition.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/openmetrics_text.h"

void metric_families_deinit(struct metric_families *families)
{
	for (size_t i = 0; i < families->count; i++)
		array_deinit(&families->items[i].series);
	array_deinit(families);
}

/* --- classic buckets --- */

#define STEP_BITS 2

const struct metric_ladder *metric_ladder_of(const struct metric_family *family)
{
	static const struct metric_ladder usual = { 10, METRIC_BUCKETS };

	return family->ladder ? family->ladder : &usual;
}

uint64_t metric_bucket_bound(const struct metric_ladder *ladder, unsigned bucket)
{
	return ((uint64_t)1 << (ladder->first_bits + STEP_BITS * bucket)) - 1;
}

void metric_buckets(const struct metric_ladder *ladder, const struct histogram *histogram,
		    uint64_t ret[METRIC_BUCKETS_MAX])
{
	uint64_t passed = 0;
	unsigned slot = 0;

	for (unsigned b = 0; b < ladder->buckets; b++) {
		const uint64_t bound = metric_bucket_bound(ladder, b);

		for (; bucket_high(slot, histogram->frac_bits) <= bound; slot++)
			passed += histogram->slots[slot];
		ret[b] = passed;
	}
}

uint64_t metric_scale(unsigned decimals)
{
	uint64_t scale = 1;

	for (unsigned i = 0; i < decimals; i++)
		scale *= 10;
	return scale;
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
	const uint64_t scale = metric_scale(decimals);

	fprintf(out, "%" PRIu64, number / scale);
	if (decimals)
		fprintf(out, ".%0*" PRIu64, (int)decimals, number % scale);
	fputc('\n', out);
}

/* Bounds are written as Prometheus writes those it reads from protobuf, so that series have the
 * same labels in all formats. */
static void format_bound(char buffer[UNITS_TEXT_MAX], double bound)
{
	snprintf(buffer, UNITS_TEXT_MAX - 2, "%.15g", bound);
	if (!strpbrk(buffer, ".e"))
		strcat(buffer, ".0");
}

static bool print_histogram(FILE *out, const struct metric_family *family,
			    const struct metric_series *series)
{
	const struct metric_ladder *ladder = metric_ladder_of(family);
	const struct histogram *histogram = series->histogram;
	const double scale = (double)metric_scale(family->decimals);
	uint64_t counts[METRIC_BUCKETS_MAX];
	char bound[UNITS_TEXT_MAX];
	bool is_done = true;

	metric_buckets(ladder, histogram, counts);
	for (unsigned b = 0; is_done && b < ladder->buckets; b++) {
		format_bound(bound, (double)metric_bucket_bound(ladder, b) / scale);
		is_done = print_sample(out, family, series, "_bucket", bound);
		print_number(out, counts[b], 0);
	}
	is_done = is_done && print_sample(out, family, series, "_bucket", "+Inf");
	print_number(out, histogram->count, 0);
	is_done = is_done && print_sample(out, family, series, "_sum", NULL);
	print_number(out, histogram->sum, family->decimals);
	is_done = is_done && print_sample(out, family, series, "_count", NULL);
	print_number(out, histogram->count, 0);
	return is_done;
}

/* Quotes stay as they are: the older of the two formats refuses an escape for them here. */
static void print_help(FILE *out, const char *help)
{
	for (const char *at = help; *at; at++)
		if (*at == '\n')
			fputs("\\n", out);
		else
			fprintf(out, *at == '\\' ? "\\%c" : "%c", *at);
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

	fprintf(out, "# HELP %s%s ", family->name, of_name);
	print_help(out, family->help);
	fprintf(out, "\n# TYPE %s%s %s\n", family->name, of_name, types[family->type]);
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
