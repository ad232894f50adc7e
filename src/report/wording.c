/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/wording.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "report/reasons.h"
#include "report/table.h"

/* --- above the tables --- */

static void print_side(FILE *out, const char *what, const struct side *side)
{
	const struct ctprof_snapshot *s = side->snapshot;
	time_t seconds = (time_t)(s->captured_at_unix_ns.value / NS_PER_S);
	char stamp[40] = "at an unknown time", *note = text_visible(name_text(s->note));
	char *name = text_visible(text_of(side->name));
	struct tm tm;

	if (s->captured_at_unix_ns.value && gmtime_r(&seconds, &tm))
		strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fprintf(out, "%s: %s, %zu %s%s, %s", what, stamp, s->threads.count,
		s->has_programs ? "program" : "thread", plural(s->threads.count), name ? name : "");
	fprintf(out, s->note && note ? " (%s)\n" : "\n", note);
	free(note);
	free(name);
}

static void print_distance(FILE *out, const struct report *report)
{
	static const char *const boots[] = {
		[BOOTS_UNKNOWN] = "",
		[BOOTS_SAME] = ", same boot",
		[BOOTS_DIFFERENT] = ", different boots: totals are of different lives",
	};

	char span[UNITS_TEXT_MAX];

	if (report->candidate->observed_ns)
		fprintf(out, "totals are those of each query's time\n");
	else if (!report->has_elapsed)
		fprintf(out, "time between them unknown%s\n", boots[report->boots]);
	else
		fprintf(out, "%s apart%s%s\n", units_format_span(span, fabs(report->elapsed_s)),
			report->elapsed_s < 0 ? ", the candidate is the older one" : "",
			boots[report->boots]);
}

static void print_totals(FILE *out, const struct report *report)
{
	if (!report->comparing || report->repeated || report->view->normalize != NORMALIZE_NOT ||
	    report->boots == BOOTS_DIFFERENT)
		return;
	fprintf(out, report->boots == BOOTS_SAME
			     ? "totals since each thread began (--window compares what happened in "
			       "between)\n"
			     : "totals since each thread began\n");
}

static void print_views(FILE *out, const struct report *report)
{
	const struct view *view = report->view;

	if (view->window)
		fprintf(out, "what happened in between, of threads that both have (--lifetime "
			     "compares totals)\n");
	else
		print_totals(out, report);
	if (report->against_rates)
		fprintf(out, "vs before: the rate in between against the average rate until then "
			     "(other values: their change)\n");
	if (view->normalize == NORMALIZE_AGE)
		fprintf(out, "totals are per second of a thread's life\n");
	if (view->normalize == NORMALIZE_CPU)
		fprintf(out, "totals are per second of CPU time\n");
}

static void print_renamed(FILE *out, const struct report *report)
{
	const struct renamed *renamed = &report->sides->renamed;

	for (size_t i = 0; i < renamed->count; i++) {
		const struct renamed_pair *pair = &renamed->items[i];
		char *old = text_visible(name_text(pair->baseline));
		char *new = text_visible(name_text(pair->candidate));

		fprintf(out, "renamed: %s is now %s ", old ? old : "", new ? new : "");
		if (pair->all)
			fprintf(out, "(%zu of %zu kinds of thread are the same)\n", pair->common,
				pair->all);
		else
			fprintf(out, "(with the cgroup above it)\n");
		free(old);
		free(new);
	}
}

static void print_notes(FILE *out, const struct report *report, size_t first)
{
	for (size_t i = first; i < report->notes.count; i++) {
		char *note = text_visible(text_of(report->notes.items[i]));

		fprintf(out, "note: %s\n", note ? note : "");
		free(note);
	}
}

void wording_notes_on_data(FILE *out, const struct report *report)
{
	print_notes(out, report, report->notes_on_rows);
}

void wording_head(FILE *out, const struct report *report)
{
	const struct sides *sides = report->sides;

	for (size_t i = 0; i < sides->count; i++)
		print_side(out,
			   !sides->baselines      ? "snapshot"
			   : i < sides->baselines ? "baseline"
						  : "candidate",
			   &sides->items[i]);
	if (report->comparing)
		print_distance(out, report);
	print_views(out, report);
	print_notes(out, report, 0);
	print_renamed(out, report);
}

/* --- below them --- */

/* What groups of one snapshot lack: metrics that no thread has, and those that some have. */
struct gaps {
	struct metric_set none, part;
};

static struct gaps find_gaps(const struct coverage *coverage, const struct metric_set *wanted)
{
	struct gaps gaps = { 0 };

	if (!coverage->any_group)
		return gaps;
	gaps = (struct gaps){ *wanted, *wanted };
	for (size_t i = 0; i < array_length(gaps.none.words); i++) {
		gaps.none.words[i] &= ~coverage->some.words[i];
		gaps.part.words[i] &= coverage->some.words[i] & ~coverage->every.words[i];
	}
	return gaps;
}

static void print_reasons(FILE *out, const char *prefix, const struct ctprof_snapshot *snapshot,
			  const struct gaps *gaps)
{
	char what[64];

	snprintf(what, sizeof(what), "%snot measured", prefix);
	reasons_print(out, what, snapshot, &gaps->none);
	snprintf(what, sizeof(what), "%smeasured in some threads only", prefix);
	reasons_print(out, what, snapshot, &gaps->part);
}

/* How many there are: why is a line each, for those who ask. */
static void print_counts(FILE *out, const char *prefix, const struct ctprof_snapshot *snapshot,
			 const struct gaps *gaps)
{
	const size_t none = metric_set_count(&gaps->none), part = metric_set_count(&gaps->part);

	if (none)
		fprintf(out, "%snot measured: %zu metric%s", prefix, none, plural(none));
	if (none && part)
		fprintf(out, ", %zu more in some threads only", part);
	else if (part)
		fprintf(out, "%smeasured in some threads only: %zu metric%s", prefix, part,
			plural(part));
	if (none || part)
		fprintf(out, " (--unmeasured says why%s)\n",
			snapshot->observed_ns ? "" : "; see also ctprof doctor");
}

static void print_gaps(FILE *out, const struct report *report, const char *prefix,
		       const struct ctprof_snapshot *snapshot, const struct gaps *gaps)
{
	if (report->view->unmeasured || report->view->metrics_named)
		print_reasons(out, prefix, snapshot, gaps);
	else
		print_counts(out, prefix, snapshot, gaps);
}

static struct metric_set wanted_metrics(const struct report *report)
{
	struct metric_set wanted = { 0 };

	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metric_set_has(&report->view->metrics.metrics, i) &&
		    report_has(report, metrics[i].section))
			metric_set_add(&wanted, i);
	return wanted;
}

void wording_coverage(FILE *out, const struct report *report)
{
	struct metric_set wanted = wanted_metrics(report);
	struct gaps gaps = find_gaps(&report->coverage_after, &wanted);

	print_gaps(out, report, "", report->candidate, &gaps);
	if (!report->comparing)
		return;
	/* For the baseline, mention only metrics that the candidate has. */
	for (size_t i = 0; i < array_length(wanted.words); i++)
		wanted.words[i] &= report->coverage_after.every.words[i];
	gaps = find_gaps(&report->coverage_before, &wanted);
	print_gaps(out, report, "baseline: ", report->baseline, &gaps);
}

/* --- instead of them --- */

/* Was something chosen that stands in this table? */
static bool has_chosen(const struct report *report, enum section section)
{
	for (unsigned i = 0; i < METRIC_COUNT + DERIVED_COUNT; i++)
		if (selection_has(&report->view->metrics, i) &&
		    report_has(report, report->measures[i].section) &&
		    report_section_of(report, &report->measures[i]) == section)
			return true;
	return false;
}

static bool wants_group_sections(const struct report *report)
{
	return report_has(report, SECTION_PRIMARY) || report_has(report, SECTION_TASKSTATS_DELAY) ||
	       report_has(report, SECTION_DERIVED) || report_has(report, SECTION_THREAD_STATES);
}

const char *wording_nothing(const struct report *report)
{
	bool filtered = report->view->match.count || report->view->not_match.count;

	if (!wants_group_sections(report))
		return NULL;
	if (!report->matching && !filtered && report->view->keys.filter.count)
		return "no thread matches --filter";
	if (!report->matching)
		return filtered ? "no group matches" : "no threads";
	if (!report->shared)
		return report->view->window ? "no thread is in both" : "no group is in both";
	if (!has_chosen(report, SECTION_PRIMARY) && !has_chosen(report, SECTION_DERIVED) &&
	    !has_chosen(report, SECTION_THREAD_STATES))
		return "no metric is in both --metrics and --sections";
	return NULL;
}

static bool has_context(const struct ctprof_snapshot *s)
{
	return s && s->host;
}

const char *wording_empty(const struct report *report, enum section section)
{
	bool named = report->view->sections_named;

	if (section == SECTION_HOST && (!has_context(report->candidate) ||
					(report->comparing && !has_context(report->baseline))))
		return "(host context unavailable)";
	if (section == SECTION_SCHED_EXT && named && !report->candidate->sched_ext)
		return "(the kernel has no sched_ext)";
	if (section != SECTION_PRIMARY && !named)
		return NULL;
	if ((section == SECTION_PRIMARY || section == SECTION_DERIVED) &&
	    !has_chosen(report, section))
		return NULL;
	if (section_infos[section].subject == SUBJECT_GROUP && wording_nothing(report))
		return NULL;
	if (section_infos[section].subject == SUBJECT_PROCESS && !report->matching)
		return wording_nothing(report) ? NULL : "no group matches";
	return report->comparing && report->sections[section].any_value ? "nothing changed"
									: "nothing measured";
}

bool wording_is_all_same(const struct report *report)
{
	size_t rows = 0, unchanged = 0;

	for (enum section i = 0; i < SECTION_COUNT; i++) {
		rows += report_section_rows(&report->sections[i]);
		unchanged += report->sections[i].unchanged;
	}
	return !rows && unchanged && !report->only_before.count && !report->only_after.count;
}

char *wording_unchanged(const struct report *report)
{
	_cleanup_free_ char *same = NULL, *blank = NULL;
	size_t unchanged = 0, blanks = 0;
	char *line = NULL;

	for (enum section i = 0; i < SECTION_COUNT; i++) {
		unchanged += report->sections[i].unchanged;
		blanks += report->sections[i].blank;
	}
	if (!unchanged && !blanks)
		return NULL;
	if (wording_is_all_same(report))
		return asprintf(&line,
				"nothing changed: %zu value%s the same on both sides "
				"(--all-rows shows them)",
				unchanged, unchanged == 1 ? " is" : "s are") < 0
			       ? NULL
			       : line;
	if (asprintf(&same, "%zu more value%s not change", unchanged,
		     unchanged == 1 ? " did" : "s did") < 0 ||
	    asprintf(&blank, "%zu derived metric%s no value in between", blanks,
		     blanks == 1 ? " has" : "s have") < 0)
		return NULL;
	return asprintf(&line, "%s%s%s (--all-rows shows them)", unchanged ? same : "",
			unchanged && blanks ? ", " : "", blanks ? blank : "") < 0
		       ? NULL
		       : line;
}

char *wording_unmatched(const struct report *report, bool before)
{
	const struct unmatched *unmatched = before ? &report->only_before : &report->only_after;
	const struct sides *sides = report->sides;
	const char *name = sides->items[before ? 0 : sides->count - 1].name;
	size_t count = unmatched->count + unmatched->left_out;
	char *visible = text_visible(text_of(name)), *line = NULL;
	int length;

	if (!count || !visible) {
		free(visible);
		return NULL;
	}
	if (report->view->window)
		length = asprintf(&line, "%zu group%s of threads that %s in between:", count,
				  plural(count), before ? "ended" : "began");
	else
		length = asprintf(&line, "%zu group%s only in %s (%s):", count, plural(count),
				  before ? "baseline" : "candidate", visible);
	free(visible);
	return length < 0 ? NULL : line;
}

bool wording_left_out(struct table *table, size_t count, const char *what)
{
	char line[96];

	snprintf(line, sizeof(line), "... %zu more %s%s (--all)", count, what, plural(count));
	return !count || table_line(table, line);
}

char *wording_condition_result(const struct condition_result *result)
{
	_cleanup_free_ char *text = text_visible(text_of(result->condition->text));
	size_t rows = result->count;
	char *line = NULL;
	int length = 0;

	if (!text)
		return NULL;
	switch (result->verdict) {
	case VERDICT_HOLDS:
		length = asprintf(&line, "--fail-if '%s': not met by any of %zu group%s", text,
				  result->groups, plural(result->groups));
		break;
	case VERDICT_BROKEN:
		length = asprintf(&line, "--fail-if '%s': met by %zu row%s", text, rows,
				  plural(rows));
		break;
	case VERDICT_UNDECIDED:
		if (result->impossible && result->unmeasured)
			length = asprintf(
				&line,
				"--fail-if '%s': undecided, not measured in %zu and marked "
				"(!) in %zu of %zu groups",
				text, result->unmeasured, result->impossible, result->groups);
		else if (result->impossible)
			length = asprintf(
				&line,
				"--fail-if '%s': undecided, marked (!) in %zu of %zu group%s", text,
				result->impossible, result->groups, plural(result->groups));
		else if (result->groups)
			length = asprintf(&line,
					  "--fail-if '%s': undecided, not measured in %zu of %zu "
					  "group%s",
					  text, result->unmeasured, result->groups,
					  plural(result->groups));
		else
			length = asprintf(
				&line, "--fail-if '%s': undecided, no such group is in both", text);
		break;
	}
	return length < 0 ? NULL : line;
}
