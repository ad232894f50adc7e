/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/openmetrics_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "kstats/shared_memory.h"

bool openmetrics_is_time(const struct kstats_table *table)
{
	return strcmp(table->unit, unit_name(UNIT_NS)) == 0;
}

/* --- families --- */

/* Suffixes of samples and of units: a family whose name ends with one could be taken for a part of
 * another family. */
static const struct text reserved[] = {
	{ "_bucket", 7 }, { "_count", 6 },   { "_sum", 4 },  { "_created", 8 },
	{ "_total", 6 },  { "_seconds", 8 }, { "_info", 5 },
};

static const char *suffix_of(const struct kstats_table *table, const char *family)
{
	if (openmetrics_is_time(table))
		return "_seconds";
	if (strcmp(family, OPENMETRICS_LOST) == 0 || strcmp(family, OPENMETRICS_EARLIER) == 0)
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
	*ret_is_renamed |= !openmetrics_is_time(table) && *suffix;
	return text_print("%s%s", plain, suffix);
}

static int compare_families(const void *left, const void *right)
{
	const struct openmetrics_metric *a = left, *b = right;

	return strcmp(a->family, b->family);
}

/* Group metrics by family, with the labels that distinguish their series. */
struct error *openmetrics_metrics_of(const struct kstats_tables *tables,
				     struct openmetrics_metrics *metrics)
{
	for (size_t i = 0; i < tables->count; i++) {
		struct openmetrics_metric metric = { .table = tables->items[i] };

		metric.family = family_of(metric.table, &metric.is_renamed);
		if (!metric.family || !array_push(metrics, metric)) {
			free(metric.family);
			return &error_no_memory;
		}
	}
	if (metrics->count)
		qsort(metrics->items, metrics->count, sizeof(*metrics->items), compare_families);
	for (size_t at = 0, end; at < metrics->count; at = end) {
		const struct openmetrics_metric *first = &metrics->items[at];
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

void openmetrics_metrics_clear(struct openmetrics_metrics *metrics)
{
	for (size_t i = 0; i < metrics->count; i++)
		free(metrics->items[i].family);
	array_deinit(metrics);
}

char *openmetrics_help(const struct openmetrics_metric *metric)
{
	const struct kstats_table *table = metric->table;
	const bool has_place = table->start && !metric->is_mixed;
	char *text = text_print("%s%s%s", has_place ? table->start : table->name,
				table->end && !metric->is_mixed ? " to " : "",
				table->end && !metric->is_mixed ? table->end : "");

	for (char *at = text; at && (at = strchr(at, '"'));)
		*at = '\'';
	return text;
}

/* --- labels --- */

static bool put_label(struct openmetrics_labels *labels, const char *name, const char *value)
{
	struct openmetrics_label label = { strdup(name), strdup(value) };

	if (label.name && label.value && array_push(labels, label))
		return true;
	free(label.name);
	free(label.value);
	return false;
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

static bool put_row_labels(struct openmetrics_labels *labels, const struct kstats_table *table,
			   const struct kstats_row *row)
{
	const char *word = row_labels[table->by].word;
	char number[UNITS_TEXT_MAX];

	snprintf(number, sizeof(number), "%" PRIu64, row->id);
	if (!put_label(labels, row_labels[table->by].number,
		       !word && row->label ? row->label : number))
		return false;
	/* The number may have been that of another process before. */
	snprintf(number, sizeof(number), "%" PRIu64, row->born);
	if (row->born && !put_label(labels, "born_ns", number))
		return false;
	return !word || put_label(labels, word, row->label ? row->label : "");
}

/* Labels of the place: values of two places are no distribution of either. */
static bool put_place_labels(struct openmetrics_labels *labels, const struct kstats_table *table)
{
	const struct {
		const char *label, *value;
	} words[] = { { "start", table->start },
		      { "end", table->end },
		      { "key", table->scope.key } };
	bool is_done = true;

	for (size_t i = 0; i < array_length(words) && is_done; i++)
		is_done = !words[i].value || put_label(labels, words[i].label, words[i].value);
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
static bool put_own_labels(struct openmetrics_labels *labels, const char *list)
{
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *pair;

	if (!copy)
		return false;
	if (!kstats_shared_are_labels(list, strlen(list)))
		return true;
	while ((pair = strsep(&rest, ","))) {
		_cleanup_free_ char *name = NULL;
		char *value = strchr(pair, '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (is_repeated(list, list + (pair - copy), pair))
			continue;
		name = text_print("%s%s", is_taken(pair) ? OWN_PREFIX : "", pair);
		if (!name || !put_label(labels, name, value))
			return false;
	}
	return true;
}

struct error *openmetrics_labels_of(const struct openmetrics_metric *metric,
				    const struct kstats_row *row, bool is_named,
				    struct openmetrics_labels *ret)
{
	const struct kstats_table *table = metric->table;
	struct openmetrics_labels labels = { 0 };
	bool is_done = true;

	if (is_named || metric->is_renamed)
		is_done = put_label(&labels, "metric", table->name);
	if (is_done && table->host)
		is_done = put_label(&labels, "host", table->host);
	if (is_done && metric->is_mixed)
		is_done = put_place_labels(&labels, table);
	/* No label may stand twice. */
	if (is_done && table->instance && !(row && table->by == KSTATS_BY_PROCESS))
		is_done = put_label(&labels, "pid", table->instance);
	if (is_done && row)
		is_done = put_row_labels(&labels, table, row);
	if (is_done && table->labels)
		is_done = put_own_labels(&labels, table->labels);
	if (!is_done) {
		openmetrics_labels_clear(&labels);
		return &error_no_memory;
	}
	*ret = labels;
	return NULL;
}

void openmetrics_labels_clear(struct openmetrics_labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		free(labels->items[i].name);
		free(labels->items[i].value);
	}
	array_deinit(labels);
}
