/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The difference of two sides of profiles, and what of it is known to be real, as JSON: one object,
 * a line for each function and node that was compared.
 */
#include <stdlib.h>

#include "base/json_writer.h"
#include "base/version.h"
#include "profile/known_frames.h"
#include "report/flame_answer.h"
#include "report/flame_walk.h"
#include "report/profile_wording.h"
#include "report/visible.h"

#define SCHEMA 1

static const char *const time_words[FLAME_TIMES] = { "all", "cpu", "off" };

static void write_amount(struct json_writer *w, const char *key, double value)
{
	json_key(w, key);
	json_u64(w, (uint64_t)(value + 0.5));
}

static void write_real(struct json_writer *w, const char *key, double value)
{
	json_key(w, key);
	json_real(w, value);
}

/* Percentages are null where there was nothing before, or where nothing bounds them. */
static void write_change(struct json_writer *w, const struct flame *flame,
			 const struct flame_change *change)
{
	write_amount(w, flame->is_events ? "before_count" : "before_ns", change->before);
	write_amount(w, flame->is_events ? "after_count" : "after_ns", change->after);
	write_real(w, "change_percent", flame_change_percent(change));
	write_real(w, "low_percent", 100 * (change->low - 1));
	write_real(w, "high_percent", 100 * (change->high - 1));
	write_real(w, "p", change->p);
	write_real(w, "q", change->q);
	json_key(w, "known");
	json_bool(w, change->is_known);
}

static void write_name(struct json_writer *w, const struct flame_face *face)
{
	json_key(w, "name");
	json_text(w, frame_shown_name(face->name));
	if (face->module && face->module->length) {
		json_key(w, "module");
		json_text(w, name_text(face->module));
	}
}

/* --- functions and groups --- */

static void write_subject(struct json_writer *w, const struct flame *flame,
			  const struct flame_subject *subject, unsigned time)
{
	json_line(w);
	json_object_begin(w);
	write_name(w, subject->face);
	json_key(w, "is_group");
	json_bool(w, subject->is_group);
	json_key(w, "time");
	json_string(w, time_words[time]);
	write_change(w, flame, &subject->changes[time]);
	json_object_end(w);
}

static void write_subjects(struct json_writer *w, const struct flame *flame)
{
	const struct flame_changes *changes = flame->changes;

	json_key(w, "functions");
	json_array_begin(w);
	for (size_t i = 0; i < changes->subjects.count; i++)
		for (unsigned time = 0; time < FLAME_TIMES; time++)
			if (changes->subjects.items[i].changes[time].is_tested)
				write_subject(w, flame, &changes->subjects.items[i], time);
	json_array_end(w);
}

static void write_findings(struct json_writer *w, const struct flame *flame)
{
	const struct flame_changes *changes = flame->changes;

	json_key(w, "findings");
	json_array_begin(w);
	for (size_t i = 0; i < changes->findings.count; i++) {
		const struct flame_finding *finding = &changes->findings.items[i];

		write_subject(w, flame, &changes->subjects.items[finding->subject], finding->time);
	}
	json_array_end(w);
}

/* --- the tree --- */

static void write_node(struct json_writer *w, const struct flame *flame, uint32_t number)
{
	const struct flame_node *node = &flame->nodes.items[number];
	const struct flame_change *change = &flame->changes->nodes[number];

	json_line(w);
	json_object_begin(w);
	json_key(w, "depth");
	json_u64(w, node->depth);
	write_name(w, flame_face(flame, node));
	if (change->is_tested) {
		write_change(w, flame, change);
	} else {
		write_amount(w, flame->is_events ? "before_count" : "before_ns", change->before);
		write_amount(w, flame->is_events ? "after_count" : "after_ns", change->after);
	}
	json_object_end(w);
}

static void write_nodes(struct json_writer *w, const struct flame *flame)
{
	json_key(w, "nodes");
	json_array_begin(w);
	for (uint32_t i = 0; i != NODE_NONE; i = flame_next(flame, 0, i))
		write_node(w, flame, i);
	json_array_end(w);
}

/* --- conditions --- */

static void write_condition(struct json_writer *w, const struct flame *flame,
			    const struct flame_condition *condition)
{
	static const char *const verdicts[] = { "holds", "broken", "undecided" };

	json_line(w);
	json_object_begin(w);
	json_key(w, "expression");
	json_text(w, text_of(condition->text));
	json_key(w, "verdict");
	json_string(w, verdicts[condition->verdict]);
	json_key(w, "matched");
	json_u64(w, condition->matched);
	json_key(w, "compared");
	json_u64(w, condition->tested);
	json_key(w, "met");
	json_u64(w, condition->met);
	if (condition->name) {
		json_key(w, "name");
		json_string(w, condition->name);
		write_change(w, flame, &condition->change);
	}
	json_object_end(w);
}

static void write_conditions(struct json_writer *w, const struct profile_report *report)
{
	json_key(w, "fail_if");
	json_array_begin(w);
	for (size_t i = 0; report->gate && i < report->gate->count; i++)
		write_condition(w, report->flame, &report->gate->items[i]);
	json_array_end(w);
}

/* --- all of it --- */

static void write_all(struct json_writer *w, const struct profile_report *report,
		      const char *answer)
{
	const struct flame *flame = report->flame;
	const struct flame_changes *changes = flame->changes;

	json_object_begin(w);
	json_key(w, "ctprof");
	json_object_begin(w);
	json_key(w, "version");
	json_text(w, TEXT(CTPROF_VERSION));
	json_key(w, "report");
	json_text(w, TEXT("flame-diff"));
	json_key(w, "schema");
	json_u64(w, SCHEMA);
	json_object_end(w);
	json_key(w, "answer");
	json_string(w, answer);
	json_key(w, "group_by");
	json_string(w, flame_group_names[report->view->group_by]);
	json_key(w, "before_profiles");
	json_u64(w, changes->before_count);
	json_key(w, "after_profiles");
	json_u64(w, changes->after_count);
	json_key(w, "is_approximate");
	json_bool(w, changes->is_approximate);
	json_key(w, "tests");
	json_u64(w, changes->test_count);
	write_findings(w, flame);
	write_subjects(w, flame);
	write_nodes(w, flame);
	write_conditions(w, report);
	json_object_end(w);
	json_document_end(w);
}

struct error *changes_json(const struct profile_report *report, json_sink sink, void *context)
{
	_cleanup_free_ char *answer = flame_answer(report->flame);
	struct json_writer w;
	struct error *err = answer ? json_writer_init(&w, sink, context) : &error_no_memory;

	if (err)
		return err;
	write_all(&w, report, answer);
	err = json_writer_finish(&w);
	json_writer_deinit(&w);
	return err;
}
