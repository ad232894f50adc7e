/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/openmetrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "kstats/distribution.h"
#include "report/openmetrics_names.h"
#include "report/openmetrics_text.h"

/* A series: one name with one set of labels, of a table or of a row of it. */
struct exported_series {
	const struct openmetrics_metric *metric;
	const struct kstats_table *table;
	const struct kstats_row *row; /* NULL: all of them together */
	const char *family;
	char *labels; /* "host=\"a\",cpu=\"0\"", which tell it from others */
};

struct all_series {
	ARRAY(struct exported_series);
};

/* NULL: no memory. */
static char *print_labels(const struct openmetrics_labels *labels)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	bool is_done = out;

	for (size_t i = 0; is_done && i < labels->count; i++) {
		_cleanup_free_ char *cleaned = openmetrics_clean(text_of(labels->items[i].value));

		is_done = cleaned;
		fprintf(out, "%s%s=\"", i ? "," : "", labels->items[i].name);
		openmetrics_print_escaped(out, cleaned ? cleaned : "");
		fputc('"', out);
	}
	if (out && file_close_memory(out, &text) && is_done)
		return text;
	free(text);
	return NULL;
}

/* `is_named`: with the name of the metric in any case. */
static struct error *labels_of(const struct openmetrics_metric *metric,
			       const struct kstats_row *row, bool is_named, char **ret)
{
	struct openmetrics_labels labels;
	struct error *err = openmetrics_labels_of(metric, row, is_named, &labels);

	if (err)
		return err;
	*ret = print_labels(&labels);
	openmetrics_labels_clear(&labels);
	return *ret ? NULL : &error_no_memory;
}

static struct error *add_series(struct all_series *all, const struct openmetrics_metric *metric,
				const struct kstats_row *row)
{
	struct exported_series series = {
		.metric = metric, .table = metric->table, .row = row, .family = metric->family
	};
	struct error *err = labels_of(metric, row, false, &series.labels);

	if (err)
		return err;
	if (array_push(all, series))
		return NULL;
	free(series.labels);
	return &error_no_memory;
}

/* Order by family. The same labels in a family are the same series. */
static int compare_series(const void *left, const void *right)
{
	const struct exported_series *a = left, *b = right;
	int order = strcmp(a->family, b->family);

	return order ? order : strcmp(a->labels, b->labels);
}

/* --- words --- */

/* The name of a sample, and the labels that tell it from others; `bound` may be NULL. */
static void print_sample(FILE *out, const struct exported_series *s, const char *suffix,
			 const char *bound)
{
	fprintf(out, "%s%s", s->family, suffix);
	if (*s->labels || bound)
		fprintf(out, "{%s%s", s->labels, *s->labels && bound ? "," : "");
	if (bound)
		fprintf(out, "le=\"%s\"", bound);
	fputs(*s->labels || bound ? "} " : " ", out);
}

/* Whole ns in seconds, to the last digit. */
static void format_seconds(char buffer[UNITS_TEXT_MAX], const struct kstats_table *table,
			   uint64_t value)
{
	if (openmetrics_is_time(table))
		snprintf(buffer, UNITS_TEXT_MAX, "%" PRIu64 ".%09" PRIu64, value / NS_PER_S,
			 value % NS_PER_S);
	else
		snprintf(buffer, UNITS_TEXT_MAX, "%" PRIu64 ".0", value);
}

static char *format_sum(char buffer[UNITS_TEXT_MAX], const struct kstats_table *table,
			const struct kstats_distribution *all)
{
	double sum = (double)kstats_sum(all);

	return units_real_digits(buffer, openmetrics_is_time(table) ? sum / NS_PER_S : sum);
}

/* --- buckets with bounds --- */

/*
 * All histograms of a unit have the same bounds, whatever their values and bits, and none is left
 * out: tools that sum histograms sum each bound, and a missing bound would count as 0. Bounds are
 * the ends of slots of LADDER_BITS, so they are exact for finer histograms. In coarser ones a value
 * counts at the end of its slot.
 */
#define LADDER_BITS 2

static const struct ladder {
	uint64_t first, last;
} time_ladder = { (1ull << 6) - 1, (1ull << 36) - 1 }, /* 64 ns to 69 s */
	value_ladder = { 0, (1ull << 32) - 1 };

static void print_buckets(FILE *out, const struct exported_series *s,
			  const struct kstats_distribution *all)
{
	const struct ladder *ladder = openmetrics_is_time(s->table) ? &time_ladder : &value_ladder;
	const unsigned last = bucket_slot(ladder->last, LADDER_BITS);
	char text[UNITS_TEXT_MAX];
	uint64_t passed = 0;
	unsigned slot = 0;

	for (unsigned step = bucket_slot(ladder->first, LADDER_BITS); step <= last; step++) {
		const uint64_t bound = bucket_high(step, LADDER_BITS);

		for (; bucket_high(slot, all->frac_bits) <= bound; slot++)
			passed += all->slots[slot].count;
		format_seconds(text, s->table, bound);
		print_sample(out, s, "_bucket", text);
		fprintf(out, "%" PRIu64 "\n", passed);
	}
	print_sample(out, s, "_bucket", "+Inf");
	fprintf(out, "%" PRIu64 "\n", all->count);
	print_sample(out, s, "_sum", NULL);
	fprintf(out, "%s\n", format_sum(text, s->table, all));
	print_sample(out, s, "_count", NULL);
	fprintf(out, "%" PRIu64 "\n", all->count);
}

/* --- all of them --- */

static void print_head(FILE *out, const struct exported_series *s)
{
	const struct kstats_table *table = s->table;
	_cleanup_free_ char *help = openmetrics_help(s->metric);
	_cleanup_free_ char *cleaned = help ? openmetrics_clean(text_of(help)) : NULL;

	fprintf(out, "# TYPE %s histogram\n", s->family);
	if (openmetrics_is_time(table))
		fprintf(out, "# UNIT %s seconds\n", s->family);
	fprintf(out, "# HELP %s ", s->family);
	openmetrics_print_escaped(out, cleaned ? cleaned : "?");
	if (table->frac_bits < LADDER_BITS)
		fprintf(out, "; %u bits: values count at the end of their bucket",
			table->frac_bits);
	fputc('\n', out);
}

static struct error *print_series(FILE *out, const struct exported_series *s)
{
	struct kstats_distribution all = { 0 };
	struct error *err = kstats_distribution_of(s->table, s->row, &all);

	if (!err)
		print_buckets(out, s, &all);
	kstats_distribution_clear(&all);
	return err;
}

static struct error *check_series(const struct all_series *all)
{
	for (size_t i = 1; i < all->count; i++) {
		const struct kstats_table *table = all->items[i].table;

		if (compare_series(&all->items[i - 1], &all->items[i]) == 0)
			return error_create("duplicate metric %s%s%s: merge the files first",
					    table->name, table->host ? " for host " : "",
					    table->host ? table->host : "");
	}
	return NULL;
}

/*
 * Print losses by cause, for recorders that count them. Without a type: OpenMetrics names a counter
 * without "_total", the older text format with it.
 */
static struct error *print_losses(FILE *out, const struct openmetrics_metrics *metrics)
{
	bool has_head = false;

	for (size_t i = 0; i < metrics->count; i++) {
		const struct kstats_table *table = metrics->items[i].table;
		_cleanup_free_ char *labels = NULL;
		struct error *err = labels_of(&metrics->items[i], NULL, true, &labels);

		if (err)
			return err;
		for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++) {
			if (!(table->losses_known & 1u << loss))
				continue;
			if (!has_head)
				fputs("# HELP " OPENMETRICS_LOST "_total " OPENMETRICS_LOST_HELP
				      "\n",
				      out);
			has_head = true;
			fprintf(out, OPENMETRICS_LOST "_total{%s,cause=\"%s\"} %" PRIu64 "\n",
				labels, kstats_losses[loss].name, table->losses[loss]);
		}
	}
	return NULL;
}

static struct error *print_earlier(FILE *out, const struct openmetrics_metrics *metrics)
{
	bool has_head = false;

	for (size_t i = 0; i < metrics->count; i++) {
		const struct kstats_table *table = metrics->items[i].table;
		_cleanup_free_ char *labels = NULL;
		struct error *err;

		if (!table->earlier_known)
			continue;
		err = labels_of(&metrics->items[i], NULL, true, &labels);
		if (err)
			return err;
		if (!has_head)
			fputs("# HELP " OPENMETRICS_EARLIER "_total " OPENMETRICS_EARLIER_HELP "\n",
			      out);
		has_head = true;
		fprintf(out, OPENMETRICS_EARLIER "_total{%s} %" PRIu64 "\n", labels,
			table->earlier);
	}
	return NULL;
}

static struct error *print_all(FILE *out, const struct all_series *all,
			       const struct openmetrics_metrics *metrics)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < all->count; i++) {
		if (!i || strcmp(all->items[i - 1].family, all->items[i].family) != 0)
			print_head(out, &all->items[i]);
		err = print_series(out, &all->items[i]);
	}
	if (!err)
		err = print_losses(out, metrics);
	if (!err)
		err = print_earlier(out, metrics);
	if (!err)
		fputs("# EOF\n", out);
	return err;
}

static void clear_series(struct all_series *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->items[i].labels);
	all->count = 0;
}

/* In their order, each once. */
static struct error *find_series(const struct openmetrics_metrics *metrics, bool rows,
				 struct all_series *ret)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < metrics->count; i++) {
		const struct openmetrics_metric *metric = &metrics->items[i];
		const struct kstats_table *table = metric->table;

		if (!rows)
			err = add_series(ret, metric, NULL);
		for (size_t row = 0; rows && !err && row < table->rows.count; row++)
			err = add_series(ret, metric, &table->rows.items[row]);
	}
	if (err)
		return err;
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_series);
	return check_series(ret);
}

struct error *openmetrics_print(FILE *out, const struct kstats_tables *tables, bool rows)
{
	struct openmetrics_metrics metrics = { 0 };
	struct all_series all = { 0 };
	struct error *err = openmetrics_metrics_of(tables, &metrics);

	/* Losses are printed for each table, whatever rows it has. */
	if (!err)
		err = find_series(&metrics, false, &all);
	if (!err && rows) {
		clear_series(&all);
		err = find_series(&metrics, true, &all);
	}
	if (!err)
		err = print_all(out, &all, &metrics);
	clear_series(&all);
	openmetrics_metrics_clear(&metrics);
	array_deinit(&all);
	return err;
}
