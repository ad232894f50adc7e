/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "report/overview_report.h"

static void write_number(struct json_writer *w, const char *key, double value)
{
	json_key(w, key);
	if (isfinite(value))
		json_real(w, value);
	else
		json_null(w);
}

static void write_host(struct json_writer *w, const struct report *report)
{
	json_key(w, "host");
	json_array_begin(w);
	for (size_t i = 0; i < FACT_COUNT; i++) {
		if (isnan(report->overview->host.after[i]))
			continue;
		json_object_begin(w);
		json_key(w, "name");
		json_text(w, text_of(overview_facts[i].name));
		json_key(w, "unit");
		json_text(w, text_of(overview_facts[i].unit));
		if (report->comparing)
			write_number(w, "baseline", report->overview->host.before[i]);
		write_number(w, report->comparing ? "candidate" : "value",
			     report->overview->host.after[i]);
		json_object_end(w);
	}
	json_array_end(w);
}

static void write_totals(struct json_writer *w, const struct overview *overview)
{
	char digits[UNITS_TEXT_MAX];

	json_key(w, "totals");
	json_array_begin(w);
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		enum metric_id id = overview->total_metrics[i];

		if (id == METRIC_COUNT)
			continue;
		json_object_begin(w);
		json_key(w, "metric");
		json_text(w, text_of(metrics[id].name));
		json_key(w, "total");
		json_digits(w, units_digits(digits, metrics[id].unit, overview->totals[i]));
		json_object_end(w);
	}
	json_array_end(w);
}

static void write_memory(struct json_writer *w, const struct overview_value *value)
{
	json_text(w, TEXT("memory"));
	write_number(w, "baseline", value->before);
	write_number(w, "candidate", value->after);
}

static void write_rate(struct json_writer *w, const struct report *report,
		       const struct overview_value *value)
{
	json_text(w, text_of(metrics[value->metric].name));
	if (report->comparing)
		write_number(w, "baseline_per_s", value->before);
	write_number(w, report->comparing ? "candidate_per_s" : "value_per_s", value->after);
}

static void write_reasons(struct json_writer *w, const struct report *report,
			  const struct overview_group *group)
{
	json_key(w, "reasons");
	json_array_begin(w);
	for (size_t i = 0; i < CAUSE_COUNT && overview_is_reason(group, i); i++) {
		const struct overview_value *value = &group->values[group->order[i]];

		json_object_begin(w);
		json_key(w, "metric");
		if (group->order[i] == CAUSE_MEMORY)
			write_memory(w, value);
		else
			write_rate(w, report, value);
		write_number(w, "score", value->score);
		json_object_end(w);
	}
	json_array_end(w);
}

static void write_group(struct json_writer *w, const struct report *report,
			const struct overview_group *group)
{
	static const char *const presences[] = {
		[PRESENCE_BOTH] = "both", [PRESENCE_NEW] = "new", [PRESENCE_ENDED] = "ended"
	};

	json_line(w);
	json_object_begin(w);
	json_key(w, "group");
	json_text(w, name_text(group->label));
	if (report->comparing) {
		json_key(w, "presence");
		json_text(w, text_of(presences[group->presence]));
	}
	json_key(w, "pid");
	if (group->pid)
		json_u64(w, group->pid);
	else
		json_null(w);
	if (!report->comparing)
		write_number(w, "age_s", group->age_s > 0 ? group->age_s : NAN);
	write_number(w, "seconds_per_s", group->seconds);
	write_number(w, "score", group->score);
	write_reasons(w, report, group);
	json_object_end(w);
}

static void write_sections(struct json_writer *w, const struct report *report)
{
	json_key(w, "sections");
	json_array_begin(w);
	for (enum section i = 0; i < SECTION_COUNT; i++) {
		if (!report_has_section(report, i) || !report->sections[i].telling)
			continue;
		json_object_begin(w);
		json_key(w, "section");
		json_text(w, text_of(section_infos[i].name));
		json_key(w, report->comparing ? "changed_rows" : "rows");
		json_u64(w, report->sections[i].telling);
		json_object_end(w);
	}
	json_array_end(w);
}

static void write_missing(struct json_writer *w, const struct overview *overview)
{
	json_key(w, "not_measured");
	json_array_begin(w);
	if (overview_is_missing(overview, CAUSE_LOCK))
		json_text(w, TEXT("lock"));
	if (overview_is_missing(overview, CAUSE_STORAGE))
		json_text(w, TEXT("storage"));
	json_array_end(w);
}

void overview_write(struct json_writer *w, const struct report *report)
{
	const struct overview *overview = report->overview;

	if (!overview)
		return;
	json_key(w, "overview");
	json_object_begin(w);
	json_key(w, "window_s");
	if (overview->window_s > 0)
		json_real(w, overview->window_s);
	else
		json_null(w);
	write_host(w, report);
	write_totals(w, overview);
	write_missing(w, overview);
	json_key(w, "own_groups_left_out");
	json_u64(w, overview->own);
	json_key(w, "groups");
	json_array_begin(w);
	for (size_t i = 0; i < overview_shown(overview); i++)
		write_group(w, report, &overview->groups.items[i]);
	json_array_end(w);
	write_sections(w, report);
	json_object_end(w);
}
