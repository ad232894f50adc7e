/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON: one object, its rows a line each. doc/report.md describes it.
 */
#include "base/json_writer.h"

#include <string.h>

#include "base/version.h"
#include "compare/condition.h"
#include "report/fields.h"
#include "report/overview_report.h"
#include "report/reasons.h"
#include "report/report.h"
#include "report/stream.h"

#define SCHEMA 1

static size_t count_left_out(const struct report *report)
{
	size_t count = report->only_before.left_out + report->only_after.left_out;

	for (enum section i = 0; i < SECTION_COUNT; i++) {
		count += report->sections[i].groups_left_out;
		for (size_t b = 0; b < ROW_GROUP_COUNT; b++)
			count += report->sections[i].row_groups[b].left_out;
	}
	return count;
}

/* --- what stands around them --- */

static void write_side(struct json_writer *w, const struct side *side)
{
	const struct ctprof_snapshot *s = side->snapshot;

	json_object_begin(w);
	json_key(w, "file");
	json_text(w, text_of(side->name));
	json_key(w, "captured_at_unix_ns");
	if (s->captured_at_unix_ns.value)
		json_u64(w, s->captured_at_unix_ns.value);
	else
		json_null(w);
	json_key(w, "threads");
	json_u64(w, s->threads.count);
	json_key(w, "note");
	json_name(w, s->note);
	json_object_end(w);
}

static void write_sides(struct json_writer *w, const char *key, const struct side *sides,
			size_t count)
{
	json_key(w, key);
	json_array_begin(w);
	for (size_t i = 0; i < count; i++)
		write_side(w, &sides[i]);
	json_array_end(w);
}

static void write_distance(struct json_writer *w, const struct report *report)
{
	json_key(w, "elapsed_s");
	if (report->has_elapsed)
		json_real(w, report->elapsed_s);
	else
		json_null(w);
	json_key(w, "same_boot");
	if (report->boots == BOOTS_UNKNOWN)
		json_null(w);
	else
		json_bool(w, report->boots == BOOTS_SAME);
}

static void write_metric_names(struct json_writer *w, const struct metric_set *which)
{
	json_array_begin(w);
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metric_set_has(which, i))
			json_text(w, text_of(metrics[i].name));
	json_array_end(w);
}

/* `because` NULL: of --completed-only. */
static void write_left_out(struct json_writer *w, const struct waits *waits,
			   const struct side *because)
{
	const struct metric_set totals = waits_left_out(waits, because ? because->snapshot : NULL);

	if (metric_set_is_empty(&totals))
		return;
	json_object_begin(w);
	json_key(w, "reason");
	json_text(w, !because                                ? TEXT("booked only")
		     : snapshot_is_by_bpf(because->snapshot) ? TEXT("not measured")
							     : TEXT("captured without BPF"));
	json_key(w, "file");
	if (because)
		json_text(w, text_of(because->name));
	else
		json_null(w);
	json_key(w, "metrics");
	write_metric_names(w, &totals);
	json_object_end(w);
}

static void write_waits(struct json_writer *w, const struct sides *sides)
{
	json_key(w, "in_progress");
	json_object_begin(w);
	json_key(w, "added");
	write_metric_names(w, &sides->waits.added);
	json_key(w, "left_out");
	json_array_begin(w);
	write_left_out(w, &sides->waits, NULL);
	for (size_t i = 0; i < sides->count; i++)
		write_left_out(w, &sides->waits, &sides->items[i]);
	json_array_end(w);
	json_object_end(w);
}

static void write_head(struct json_writer *w, const struct report *report)
{
	static const char *const normalized[] = { NULL, "age", "cpu" };
	const struct sides *sides = report->sides;
	const struct view *view = report->view;

	json_key(w, "ctprof");
	json_object_begin(w);
	json_key(w, "version");
	json_text(w, TEXT(CTPROF_VERSION));
	json_key(w, "report");
	json_text(w, text_of(report->comparing ? "compare" : "show"));
	json_key(w, "schema");
	json_u64(w, SCHEMA);
	json_object_end(w);
	if (report->comparing)
		write_sides(w, "baseline", sides->items, sides->baselines);
	write_sides(w, report->comparing ? "candidate" : "snapshot",
		    sides->items + sides->baselines, sides->count - sides->baselines);
	if (report->comparing)
		write_distance(w, report);
	json_key(w, "group_by");
	json_text(w, text_of(view->axis->name));
	json_key(w, "window");
	json_bool(w, view->window);
	json_key(w, "rate");
	json_bool(w, view->rate);
	json_key(w, "normalize");
	if (normalized[view->normalize])
		json_text(w, text_of(normalized[view->normalize]));
	else
		json_null(w);
	write_waits(w, sides);
	json_key(w, "notes");
	json_array_begin(w);
	for (size_t i = 0; i < report->notes.count; i++)
		json_text(w, text_of(report->notes.items[i]));
	json_array_end(w);
}

static void write_renamed(struct json_writer *w, const struct renamed *renamed)
{
	json_key(w, "renamed_cgroups");
	json_array_begin(w);
	for (size_t i = 0; i < renamed->count; i++) {
		json_line(w);
		json_object_begin(w);
		json_key(w, "baseline");
		json_text(w, name_text(renamed->items[i].baseline));
		json_key(w, "candidate");
		json_text(w, name_text(renamed->items[i].candidate));
		json_key(w, "common_kinds");
		json_u64(w, renamed->items[i].common);
		json_key(w, "kinds");
		json_u64(w, renamed->items[i].all);
		json_object_end(w);
	}
	json_array_end(w);
}

/* Write the metrics that no thread has, by reason. */
static void write_unmeasured(struct json_writer *w, const char *key,
			     const struct ctprof_snapshot *s)
{
	const struct metric_set missing = metrics_missing(s);
	struct metric_set left = missing;

	json_key(w, key);
	json_array_begin(w);
	for (enum metric_id i = 0; i < METRIC_COUNT; i++) {
		const char *reason = metric_reason(s, &missing, &metrics[i]);

		if (!metric_set_has(&left, i))
			continue;
		json_line(w);
		json_object_begin(w);
		json_key(w, "reason");
		json_text(w, text_of(reason));
		json_key(w, "metrics");
		json_array_begin(w);
		for (enum metric_id k = i; k < METRIC_COUNT; k++) {
			if (!metric_set_has(&left, k) ||
			    strcmp(metric_reason(s, &missing, &metrics[k]), reason) != 0)
				continue;
			metric_set_remove(&left, k);
			json_text(w, text_of(metrics[k].name));
		}
		json_array_end(w);
		json_object_end(w);
	}
	json_array_end(w);
}

/* Rows of an array that is open. */
static struct table_options json_options(struct json_writer *w)
{
	return (struct table_options){ .format = TABLE_AS_JSON, .json = w };
}

static struct error *write_condition_results(struct json_writer *w, const struct report *report)
{
	static const char *const verdicts[] = { "holds", "broken", "undecided" };
	struct error *err = NULL;

	json_key(w, "fail_if");
	json_array_begin(w);
	for (size_t i = 0; i < report->results.count && !err; i++) {
		const struct condition_result *result = &report->results.items[i];

		json_line(w);
		json_object_begin(w);
		json_key(w, "expression");
		json_text(w, text_of(result->condition->text));
		json_key(w, "verdict");
		json_text(w, text_of(verdicts[result->verdict]));
		json_key(w, "groups");
		json_u64(w, result->groups);
		json_key(w, "unmeasured_groups");
		json_u64(w, result->unmeasured);
		json_key(w, "impossible_groups");
		json_u64(w, result->impossible);
		json_key(w, "rows");
		json_array_begin(w);
		err = fields_print(report, &result->broken, json_options(w));
		json_array_end(w);
		json_object_end(w);
	}
	json_array_end(w);
	return err;
}

static struct error *write_report(struct json_writer *w, const struct report *report)
{
	struct error *err;

	json_object_begin(w);
	write_head(w, report);
	overview_write(w, report);
	if (report->comparing)
		write_renamed(w, &report->sides->renamed);
	json_key(w, "rows");
	json_array_begin(w);
	err = fields_print(report, NULL, json_options(w));
	json_array_end(w);
	json_key(w, "left_out");
	json_u64(w, count_left_out(report));
	if (report->comparing)
		write_unmeasured(w, "baseline_unmeasured", report->baseline);
	write_unmeasured(w, "unmeasured", report->candidate);
	if (report->comparing && !err)
		err = write_condition_results(w, report);
	json_object_end(w);
	return err;
}

struct error *report_json(FILE *out, const struct report *report, const struct report_style *style)
{
	struct json_writer w;
	struct error *err = json_writer_init(&w, stream_to_file, out);

	(void)style;
	if (err)
		return err;
	err = write_report(&w, report);
	err = error_first(err, json_writer_finish(&w));
	json_writer_deinit(&w);
	if (!err)
		fputc('\n', out);
	return err;
}
