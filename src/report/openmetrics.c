/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/openmetrics.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "kstats/distribution.h"
#include "kstats/shared_memory.h"
#include "report/openmetrics_text.h"

static bool is_time(const struct kstats_table *table)
{
	return strcmp(table->unit, unit_name(UNIT_NS)) == 0;
}

/* --- names --- */

struct exported_metric {
	const struct kstats_table *table;
	char *family;    /* metrics of one name are a family */
	bool is_renamed; /* ... which is another than that of the metric */
	bool is_mixed;   /* others of the family are of other places: labels say which */
};

struct exported_metrics {
	ARRAY(struct exported_metric);
};

/* A series: one name with one set of labels, of a table or of a row of it. */
struct exported_series {
	const struct kstats_table *table;
	const struct kstats_row *row; /* NULL: all of them together */
	const char *family;
	bool is_mixed;
	char *labels; /* "host=\"a\",cpu=\"0\"", which tell it from others */
};

struct all_series {
	ARRAY(struct exported_series);
};

/* Our own families, besides those that are named by metrics. */
#define LOST    "ctprof_kstats_lost"
#define EARLIER "ctprof_kstats_earlier"

/* Suffixes of samples and of units: a family whose name ends with one could be taken for a part of
 * another family. */
static const struct text reserved[] = {
	{ "_bucket", 7 }, { "_count", 6 },   { "_sum", 4 },  { "_created", 8 },
	{ "_total", 6 },  { "_seconds", 8 }, { "_info", 5 },
};

static const char *suffix_of(const struct kstats_table *table, const char *family)
{
	if (is_time(table))
		return "_seconds";
	if (strcmp(family, LOST) == 0 || strcmp(family, EARLIER) == 0)
		return "_values";
	for (size_t i = 0; i < array_length(reserved); i++)
		if (text_ends(text_of(family), reserved[i]))
			return "_values";
	return "";
}

/* Letters, digits and "_", which is all that names of families may have. `*ret_is_renamed`: it says
 * no longer which metric it is. NULL: no memory. */
static char *family_of(const struct kstats_table *table, bool *ret_is_renamed)
{
	_cleanup_free_ char *plain = text_print("ctprof_kstats_%s", table->name);
	const char *suffix;

	*ret_is_renamed = false;
	if (!plain)
		return NULL;
	for (char *at = plain; *at; at++)
		if (!isascii(*at) || !(isalnum(*at) || *at == '_')) {
			*at = '_';
			*ret_is_renamed = true;
		}
	suffix = suffix_of(table, plain);
	*ret_is_renamed |= !is_time(table) && *suffix;
	return text_print("%s%s", plain, suffix);
}

/* --- labels --- */

static bool print_label(FILE *out, const char *name, const char *value)
{
	_cleanup_free_ char *cleaned = openmetrics_clean(text_of(value));

	if (!cleaned)
		return false;
	fprintf(out, "%s%s=\"", ftell(out) > 0 ? "," : "", name);
	openmetrics_print_escaped(out, cleaned);
	fputc('"', out);
	return true;
}

/* Labels for the number and the word of a row; NULL: there is none, or the word alone is better
 * (for a negative number). */
static const struct {
	const char *number, *word;
} row_labels[KSTATS_BY_COUNT] = {
	[KSTATS_BY_CPU] = { "cpu", NULL },
	[KSTATS_BY_PROCESS] = { "pid", "process" },
	[KSTATS_BY_CGROUP] = { "cgroup_id", "cgroup" },
	[KSTATS_BY_RETVAL] = { "retval", NULL },
	[KSTATS_BY_THREAD] = { "tid", "thread" },
};

static bool print_row_labels(FILE *out, const struct kstats_table *table,
			     const struct kstats_row *row)
{
	const char *word = row_labels[table->by].word;
	char number[UNITS_TEXT_MAX];

	snprintf(number, sizeof(number), "%" PRIu64, row->id);
	if (!print_label(out, row_labels[table->by].number,
			 !word && row->label ? row->label : number))
		return false;
	/* The number may have been that of another process before. */
	snprintf(number, sizeof(number), "%" PRIu64, row->born);
	if (row->born && !print_label(out, "born_ns", number))
		return false;
	return !word || print_label(out, word, row->label ? row->label : "");
}

/* Labels of the place: values of two places are no distribution of either. */
static bool print_place_labels(FILE *out, const struct kstats_table *table)
{
	const struct {
		const char *label, *value;
	} words[] = { { "start", table->start },
		      { "end", table->end },
		      { "key", table->scope.key } };
	bool is_done = true;

	for (size_t i = 0; i < array_length(words) && is_done; i++)
		is_done = !words[i].value || print_label(out, words[i].label, words[i].value);
	return is_done;
}

#define OWN_PREFIX "label_"

/* Labels that a series has anyway: no label may stand twice. */
static const char *const taken_labels[] = {
	"metric",    "host",   "pid", "start",  "end",    "key", "cpu",   "process",
	"cgroup_id", "cgroup", "tid", "thread", "retval", "le",  "cause", "born_ns",
};

static bool is_taken(const char *name)
{
	if (strncmp(name, OWN_PREFIX, strlen(OWN_PREFIX)) == 0)
		return true;
	for (size_t i = 0; i < array_length(taken_labels); i++)
		if (strcmp(taken_labels[i], name) == 0)
			return true;
	return false;
}

/* Is there a label of that name before `end`? */
static bool is_repeated(const char *labels, const char *end, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = labels; at < end; at++)
		if ((at == labels || at[-1] == ',') && strncmp(at, name, length) == 0 &&
		    at[length] == '=')
			return true;
	return false;
}

/* Those of a program (kstats_describe), which may come from a file: what is no such list is left
 * out. A label that a series has anyway gets a name of its own. */
static bool print_own_labels(FILE *out, const char *labels)
{
	_cleanup_free_ char *copy = strdup(labels);
	char *rest = copy, *pair;

	if (!copy)
		return false;
	if (!kstats_shared_are_labels(labels, strlen(labels)))
		return true;
	while ((pair = strsep(&rest, ","))) {
		_cleanup_free_ char *name = NULL;
		char *value = strchr(pair, '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (is_repeated(labels, labels + (pair - copy), pair))
			continue;
		name = text_print("%s%s", is_taken(pair) ? OWN_PREFIX : "", pair);
		if (!name || !print_label(out, name, value))
			return false;
	}
	return true;
}

/* `is_named`: with that of the metric. NULL: no memory. */
static char *labels_of(const struct exported_metric *metric, const struct kstats_row *row,
		       bool is_named)
{
	const struct kstats_table *table = metric->table;
	char *labels = NULL;
	size_t length;
	FILE *out = open_memstream(&labels, &length);
	bool is_done = out;

	if (!out)
		return NULL;
	if (is_named)
		is_done = print_label(out, "metric", table->name);
	if (is_done && table->host)
		is_done = print_label(out, "host", table->host);
	if (is_done && metric->is_mixed)
		is_done = print_place_labels(out, table);
	/* No label may stand twice. */
	if (is_done && table->instance && !(row && table->by == KSTATS_BY_PROCESS))
		is_done = print_label(out, "pid", table->instance);
	if (is_done && row)
		is_done = print_row_labels(out, table, row);
	if (is_done && table->labels)
		is_done = print_own_labels(out, table->labels);
	if (file_close_memory(out, &labels) && is_done)
		return labels;
	free(labels);
	return NULL;
}

static struct error *add_series(struct all_series *all, const struct exported_metric *metric,
				const struct kstats_row *row)
{
	struct exported_series series = { .table = metric->table,
					  .row = row,
					  .family = metric->family,
					  .is_mixed = metric->is_mixed };

	series.labels = labels_of(metric, row, metric->is_renamed);
	if (series.labels && array_push(all, series))
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
	if (is_time(table))
		snprintf(buffer, UNITS_TEXT_MAX, "%" PRIu64 ".%09" PRIu64, value / NS_PER_S,
			 value % NS_PER_S);
	else
		snprintf(buffer, UNITS_TEXT_MAX, "%" PRIu64 ".0", value);
}

static char *format_sum(char buffer[UNITS_TEXT_MAX], const struct kstats_table *table,
			const struct kstats_distribution *all)
{
	double sum = (double)kstats_sum(all);

	return units_real_digits(buffer, is_time(table) ? sum / NS_PER_S : sum);
}

/* Print locations in a HELP line. Quotes are not escaped: OpenMetrics has an escape for them there,
 * but the older text format refuses it. */
static void print_help(FILE *out, const char *text)
{
	_cleanup_free_ char *cleaned = openmetrics_clean(text_of(text));

	for (char *at = cleaned; at && (at = strchr(at, '"'));)
		*at = '\'';
	openmetrics_print_escaped(out, cleaned ? cleaned : "?");
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
	const struct ladder *ladder = is_time(s->table) ? &time_ladder : &value_ladder;
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

	fprintf(out, "# TYPE %s histogram\n", s->family);
	if (is_time(table))
		fprintf(out, "# UNIT %s seconds\n", s->family);
	fprintf(out, "# HELP %s ", s->family);
	print_help(out, table->start && !s->is_mixed ? table->start : table->name);
	if (table->end && !s->is_mixed) {
		fputs(" to ", out);
		print_help(out, table->end);
	}
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
static struct error *print_losses(FILE *out, const struct exported_metrics *metrics)
{
	bool has_head = false;

	for (size_t i = 0; i < metrics->count; i++) {
		const struct kstats_table *table = metrics->items[i].table;
		_cleanup_free_ char *labels = labels_of(&metrics->items[i], NULL, true);

		if (!labels)
			return &error_no_memory;
		for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++) {
			if (!(table->losses_known & 1u << loss))
				continue;
			if (!has_head)
				fputs("# HELP " LOST "_total events that are in no bucket\n", out);
			has_head = true;
			fprintf(out, LOST "_total{%s,cause=\"%s\"} %" PRIu64 "\n", labels,
				kstats_losses[loss].name, table->losses[loss]);
		}
	}
	return NULL;
}

static struct error *print_earlier(FILE *out, const struct exported_metrics *metrics)
{
	bool has_head = false;

	for (size_t i = 0; i < metrics->count; i++) {
		const struct kstats_table *table = metrics->items[i].table;
		_cleanup_free_ char *labels = NULL;

		if (!table->earlier_known)
			continue;
		labels = labels_of(&metrics->items[i], NULL, true);
		if (!labels)
			return &error_no_memory;
		if (!has_head)
			fputs("# HELP " EARLIER "_total " KSTATS_EARLIER "\n", out);
		has_head = true;
		fprintf(out, EARLIER "_total{%s} %" PRIu64 "\n", labels, table->earlier);
	}
	return NULL;
}

static struct error *print_all(FILE *out, const struct all_series *all,
			       const struct exported_metrics *metrics)
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

static int compare_families(const void *left, const void *right)
{
	const struct exported_metric *a = left, *b = right;

	return strcmp(a->family, b->family);
}

/* Group metrics by family, with the labels that distinguish their series. */
static struct error *find_metrics(const struct kstats_tables *tables,
				  struct exported_metrics *metrics)
{
	for (size_t i = 0; i < tables->count; i++) {
		struct exported_metric metric = { .table = tables->items[i] };

		metric.family = family_of(metric.table, &metric.is_renamed);
		if (!metric.family || !array_push(metrics, metric)) {
			free(metric.family);
			return &error_no_memory;
		}
	}
	if (metrics->count)
		qsort(metrics->items, metrics->count, sizeof(*metrics->items), compare_families);
	for (size_t at = 0, end; at < metrics->count; at = end) {
		const struct exported_metric *first = &metrics->items[at];
		bool is_mixed = false;

		for (end = at;
		     end < metrics->count && compare_families(first, &metrics->items[end]) == 0;
		     end++)
			is_mixed |= !kstats_table_is_same(first->table, metrics->items[end].table);
		for (size_t i = at; i < end; i++)
			metrics->items[i].is_mixed = is_mixed;
	}
	return NULL;
}

static void clear_series(struct all_series *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->items[i].labels);
	all->count = 0;
}

/* In their order, each once. */
static struct error *find_series(const struct exported_metrics *metrics, bool rows,
				 struct all_series *ret)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < metrics->count; i++) {
		const struct exported_metric *metric = &metrics->items[i];
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
	struct exported_metrics metrics = { 0 };
	struct all_series all = { 0 };
	struct error *err = find_metrics(tables, &metrics);

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
	for (size_t i = 0; i < metrics.count; i++)
		free(metrics.items[i].family);
	array_deinit(&all);
	array_deinit(&metrics);
	return err;
}
