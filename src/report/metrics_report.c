/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/metrics_report.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "report/cell.h"
#include "report/reasons.h"
#include "report/table.h"

const char *const report_column_names[REPORT_COLUMN_COUNT] = {
#define COLUMN(id, name, right, show, compare) [REPORT_##id] = name,
	REPORT_COLUMNS(COLUMN)
#undef COLUMN
};

static const struct {
	bool right, show, compare;
} column_infos[REPORT_COLUMN_COUNT] = {
#define COLUMN(id, name, right, show, compare) [REPORT_##id] = { right, show, compare },
	REPORT_COLUMNS(COLUMN)
#undef COLUMN
};

bool report_column_fits(enum report_column column, bool comparing)
{
	return column == REPORT_TAGS ||
	       (comparing ? column_infos[column].compare : column_infos[column].show);
}

/* A row before it is text. In \`show\` there is no baseline. */
struct row {
	const struct name *key;
	const struct metric *metric;
	const struct aggregate *baseline, *candidate;
	size_t baseline_threads, candidate_threads;
	bool has_delta;
	unsigned __int128 size; /* of twice the delta, without its sign */
};

struct rows {
	ARRAY(struct row);
};

static bool is_wanted(const struct report_options *o, const struct metric *metric)
{
	return o->sections >> metric->section & 1 &&
	       metric_set_has(&o->metrics, metric_id(metric));
}

static bool matches(const struct report_options *o, const struct name *key)
{
	return !o->match || fnmatch(o->match, key->bytes, 0) == 0;
}

/* --- cells --- */

static bool add_threads(struct table *table, const struct row *row)
{
	char cell[64];

	if (row->baseline && row->baseline_threads != row->candidate_threads)
		snprintf(cell, sizeof(cell), "%zu→%zu", row->baseline_threads,
			 row->candidate_threads);
	else
		snprintf(cell, sizeof(cell), "%zu", row->candidate_threads);
	return table_add(table, text_of(cell));
}

static bool add_cell(struct table *table, const struct row *row, enum report_column column)
{
	char cell[CELL_MAX];

	switch (column) {
	case REPORT_GROUP:
		return table_add(table, name_text(row->key));
	case REPORT_THREADS:
		return add_threads(table, row);
	case REPORT_METRIC:
		return table_add(table, text_of(row->metric->name));
	case REPORT_VALUE:
	case REPORT_CANDIDATE:
		return table_add(table, text_of(cell_value(cell, row->metric, row->candidate)));
	case REPORT_BASELINE:
		return table_add(table, text_of(cell_value(cell, row->metric, row->baseline)));
	case REPORT_DELTA:
		return table_add(table, text_of(cell_delta(cell, row->metric, row->baseline,
							   row->candidate)));
	case REPORT_PERCENT:
		return table_add(table, text_of(cell_percent(cell, row->metric, row->baseline,
							     row->candidate)));
	case REPORT_TAGS:
		return table_add(table, text_of(metric_tags(cell, row->metric)));
	case REPORT_COLUMN_COUNT:
		break;
	}
	return true;
}

struct layout {
	enum report_column columns[REPORT_COLUMN_COUNT];
	struct table_column headings[REPORT_COLUMN_COUNT];
	size_t count;
};

static struct layout choose_columns(const struct report_options *o, bool comparing)
{
	struct layout layout = { 0 };

	for (size_t i = 0; i < o->column_count; i++)
		layout.columns[layout.count++] = o->columns[i];
	for (size_t i = 0; i < REPORT_COLUMN_COUNT && !o->column_count; i++)
		if (comparing ? column_infos[i].compare : column_infos[i].show)
			layout.columns[layout.count++] = (enum report_column)i;
	for (size_t i = 0; i < layout.count; i++) {
		enum report_column column = layout.columns[i];

		layout.headings[i] = (struct table_column){
			.heading = column == REPORT_GROUP ? o->axis->name :
							    report_column_names[column],
			.right = column_infos[column].right,
		};
	}
	return layout;
}

/* Print rows up to the limit, and say how many are left. */
static struct error *print_rows(FILE *out, const struct rows *rows, const struct report_options *o,
				bool comparing)
{
	struct layout layout = choose_columns(o, comparing);
	size_t shown = o->limit && o->limit < rows->count ? o->limit : rows->count;
	struct table table;
	bool done = true;

	table_init(&table, layout.headings, layout.count);
	for (size_t i = 0; i < shown && done; i++)
		for (size_t c = 0; c < layout.count && done; c++)
			done = add_cell(&table, &rows->items[i], layout.columns[c]);
	if (done)
		table_print(&table, out, o->colour);
	if (shown < rows->count)
		fprintf(out, "... %zu more rows (--limit 0 shows all)\n", rows->count - shown);
	table_deinit(&table);
	return done ? NULL : &error_no_memory;
}

static void print_heading(FILE *out, const struct report_options *o, const char *text)
{
	fprintf(out, o->colour ? "\033[1m## %s\033[0m\n" : "## %s\n", text);
}

/* --- show --- */

static bool collect_shown(struct rows *rows, const struct groups *groups,
			  const struct report_options *o, const struct metric_set *missing)
{
	for (size_t g = 0; g < groups->count; g++) {
		const struct group *group = groups->items[g];

		if (!matches(o, group->key))
			continue;
		for (size_t i = 0; i < METRIC_COUNT; i++) {
			if (!is_wanted(o, &metrics[i]) ||
			    (!o->metrics_named && !o->all_rows &&
			     metric_set_has(missing, (enum metric_id)i)))
				continue;
			if (!array_push(rows, (struct row){ .key = group->key,
							    .metric = &metrics[i],
							    .candidate = &group->values[i],
							    .candidate_threads = group->threads }))
				return false;
		}
	}
	return true;
}

/* The wanted metrics in sections that are on. */
static struct metric_set wanted_set(const struct report_options *o)
{
	struct metric_set wanted = { 0 };

	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (is_wanted(o, &metrics[i]))
			metric_set_add(&wanted, (enum metric_id)i);
	return wanted;
}

static void print_reasons(FILE *out, const char *prefix, const struct ctprof_snapshot *s,
			  const struct report_options *o)
{
	struct metric_set wanted = wanted_set(o);

	reasons_print(out, prefix, s, &wanted);
}

struct error *report_show(FILE *out, const struct ctprof_snapshot *snapshot,
			  const struct report_options *o)
{
	struct metric_set missing = metrics_missing(snapshot);
	struct groups groups;
	struct rows rows = { 0 };
	struct error *err = groups_init(&groups, snapshot, o->axis);

	if (err)
		return err;
	if (!collect_shown(&rows, &groups, o, &missing))
		err = &error_no_memory;
	if (!err) {
		print_heading(out, o, metric_sections[SECTION_PRIMARY].heading);
		err = print_rows(out, &rows, o, false);
	}
	if (!err)
		print_reasons(out, "", snapshot, o);
	array_deinit(&rows);
	groups_deinit(&groups);
	return err;
}

/* --- compare --- */

/* Time is not compared with bytes: rows of one unit stand together, the largest change first. */
static int block_of(const struct row *row)
{
	static const int blocks[] = { [UNIT_NS] = 0,
				      [UNIT_TICKS] = 1,
				      [UNIT_BYTES] = 2,
				      [UNIT_COUNT] = 3,
				      [UNIT_NONE] = 4 };

	return row->has_delta ? blocks[row->metric->unit] : 5;
}

static int by_change(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = block_of(x) - block_of(y);

	if (order)
		return order;
	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	order = name_compare(x->key, y->key);
	return order ? order : (x->metric > y->metric) - (x->metric < y->metric);
}

static bool changed(const struct row *row)
{
	char cell[CELL_MAX];

	if (row->has_delta)
		return row->size != 0;
	return strcmp(cell_delta(cell, row->metric, row->baseline, row->candidate), "differs") == 0;
}

static struct row make_row(const struct group_pair *pair, const struct metric *metric)
{
	struct row row = {
		.key = group_pair_key(pair),
		.metric = metric,
		.baseline = &pair->baseline->values[metric_id(metric)],
		.candidate = &pair->candidate->values[metric_id(metric)],
		.baseline_threads = pair->baseline->threads,
		.candidate_threads = pair->candidate->threads,
	};
	__int128 delta;

	row.has_delta = delta_x2(metric, row.baseline, row.candidate, &delta);
	if (row.has_delta)
		row.size = delta < 0 ? -(unsigned __int128)delta : (unsigned __int128)delta;
	return row;
}

/* Rows that say nothing new are left out, unless they were asked for. */
static bool collect_compared(struct rows *rows, const struct group_pairs *pairs,
			     const struct report_options *o)
{
	for (size_t p = 0; p < pairs->count; p++) {
		const struct group_pair *pair = &pairs->items[p];

		if (!pair->baseline || !pair->candidate || !matches(o, group_pair_key(pair)))
			continue;
		for (size_t i = 0; i < METRIC_COUNT; i++) {
			struct row row;

			if (!is_wanted(o, &metrics[i]))
				continue;
			row = make_row(pair, &metrics[i]);
			if (!o->all_rows && !changed(&row) && !(o->metrics_named && !row.has_delta))
				continue;
			if (!array_push(rows, row))
				return false;
		}
	}
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), by_change);
	return true;
}

static void print_one_sided(FILE *out, const struct group_pairs *pairs,
			    const struct report_options *o, bool of_baseline, const char *name)
{
	size_t count = 0, shown = 0;

	for (size_t p = 0; p < pairs->count; p++)
		count += (of_baseline ? !pairs->items[p].candidate : !pairs->items[p].baseline) &&
			 matches(o, group_pair_key(&pairs->items[p]));
	if (!count)
		return;
	fprintf(out, "\n%zu group%s only in %s (%s):\n", count, count == 1 ? "" : "s",
		of_baseline ? "baseline" : "candidate", name);
	for (size_t p = 0; p < pairs->count; p++) {
		const struct group_pair *pair = &pairs->items[p];
		char *key;

		if ((of_baseline ? pair->candidate : pair->baseline) ||
		    !matches(o, group_pair_key(pair)))
			continue;
		if (o->limit && shown++ == o->limit) {
			fprintf(out, "  ... %zu more (--limit 0 shows all)\n", count - o->limit);
			return;
		}
		key = text_visible(name_text(group_pair_key(pair)));
		fprintf(out, "  %s\n", key ? key : "");
		free(key);
	}
}

static struct error *print_comparison(FILE *out, const struct group_pairs *pairs,
				      const struct report_options *o)
{
	struct rows rows = { 0 };
	struct error *err = NULL;

	if (!collect_compared(&rows, pairs, o))
		err = &error_no_memory;
	if (!err)
		print_heading(out, o, metric_sections[SECTION_PRIMARY].heading);
	if (!err && rows.count)
		err = print_rows(out, &rows, o, true);
	else if (!err)
		fprintf(out, " nothing changed in the groups of both sides\n");
	array_deinit(&rows);
	return err;
}

struct error *report_compare(FILE *out, const struct ctprof_snapshot *baseline,
			     const char *baseline_name, const struct ctprof_snapshot *candidate,
			     const char *candidate_name, const struct report_options *o)
{
	struct groups before, after = { 0 };
	struct group_pairs pairs = { 0 };
	struct error *err = groups_init(&before, baseline, o->axis);

	if (!err)
		err = groups_init(&after, candidate, o->axis);
	if (!err)
		err = groups_join(&before, &after, &pairs);
	if (!err)
		err = print_comparison(out, &pairs, o);
	if (!err) {
		struct metric_set missing = metrics_missing(candidate), first = wanted_set(o);

		/* What the candidate lacks, and what only the baseline lacks. */
		print_reasons(out, "", candidate, o);
		for (size_t i = 0; i < array_length(first.words); i++)
			first.words[i] &= ~missing.words[i];
		reasons_print(out, "baseline: ", baseline, &first);
		print_one_sided(out, &pairs, o, true, baseline_name);
		print_one_sided(out, &pairs, o, false, candidate_name);
	}
	array_deinit(&pairs);
	groups_deinit(&after);
	groups_deinit(&before);
	return err;
}
