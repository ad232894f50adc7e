/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/wording.h"

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
	fprintf(out, "%s: %s, %zu thread%s, %s", what, stamp, s->threads.count,
		plural(s->threads.count), name ? name : "");
	fprintf(out, s->note && note ? " (%s)\n" : "\n", note);
	free(note);
	free(name);
}

static void print_distance(FILE *out, const struct sheet *sheet)
{
	static const char *const boots[] = {
		[BOOTS_UNKNOWN] = "",
		[BOOTS_SAME] = ", same boot",
		[BOOTS_DIFFERENT] = ", different boots: totals are of different lives",
	};

	if (!sheet->has_elapsed)
		fprintf(out, "time between them unknown%s\n", boots[sheet->boots]);
	else
		fprintf(out, "%.1f s apart%s%s\n",
			sheet->elapsed_s < 0 ? -sheet->elapsed_s : sheet->elapsed_s,
			sheet->elapsed_s < 0 ? ", the candidate is the older one" : "",
			boots[sheet->boots]);
}

static void print_views(FILE *out, const struct sheet *sheet)
{
	const struct view *view = sheet->view;

	if (view->window)
		fprintf(out, "only threads that both have: what changed in between\n");
	if (view->normalize == NORMALIZE_AGE)
		fprintf(out, "totals are per second of a thread's life\n");
	if (view->normalize == NORMALIZE_CPU)
		fprintf(out, "totals are per second of CPU time\n");
}

static void print_renamed(FILE *out, const struct sheet *sheet)
{
	const struct renamed *renamed = &sheet->sides->renamed;

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

void wording_head(FILE *out, const struct sheet *sheet)
{
	const struct sides *sides = sheet->sides;

	for (size_t i = 0; i < sides->count; i++)
		print_side(out,
			   !sides->baselines      ? "snapshot"
			   : i < sides->baselines ? "baseline"
						  : "candidate",
			   &sides->items[i]);
	if (sheet->comparing)
		print_distance(out, sheet);
	print_views(out, sheet);
	for (size_t i = 0; i < sheet->notes.count; i++) {
		char *note = text_visible(text_of(sheet->notes.items[i]));

		fprintf(out, "note: %s\n", note ? note : "");
		free(note);
	}
	print_renamed(out, sheet);
}

/* --- below them --- */

/* The groups that were looked at, of one snapshot: what they lack, wholly and in part. */
static void print_coverage(FILE *out, const char *prefix, const struct ctprof_snapshot *snapshot,
			   const struct coverage *coverage, const struct metric_set *wanted)
{
	struct metric_set none = *wanted, part = *wanted;
	char what[64];

	if (!coverage->any_group)
		return;
	for (size_t i = 0; i < array_length(none.words); i++) {
		none.words[i] &= ~coverage->some.words[i];
		part.words[i] &= coverage->some.words[i] & ~coverage->every.words[i];
	}
	snprintf(what, sizeof(what), "%snot measured", prefix);
	reasons_print(out, what, snapshot, &none);
	snprintf(what, sizeof(what), "%smeasured in some threads only", prefix);
	reasons_print(out, what, snapshot, &part);
}

static struct metric_set wanted_metrics(const struct sheet *sheet)
{
	struct metric_set wanted = { 0 };

	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metric_set_has(&sheet->view->metrics.metrics, i) &&
		    sheet_has(sheet, metrics[i].section))
			metric_set_add(&wanted, i);
	return wanted;
}

void wording_coverage(FILE *out, const struct sheet *sheet)
{
	struct metric_set wanted = wanted_metrics(sheet);

	print_coverage(out, "", sheet->candidate, &sheet->coverage_after, &wanted);
	if (!sheet->comparing)
		return;
	/* Of the baseline, only what the candidate has. */
	for (size_t i = 0; i < array_length(wanted.words); i++)
		wanted.words[i] &= sheet->coverage_after.every.words[i];
	print_coverage(out, "baseline: ", sheet->baseline, &sheet->coverage_before, &wanted);
}

/* --- instead of them --- */

/* Was something chosen that stands in this table? */
static bool has_primary(const struct sheet *sheet)
{
	struct metric_set wanted = wanted_metrics(sheet);
	bool any = false;

	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		any |= metric_set_has(&wanted, i) &&
		       sheet_section_of(&sheet->measures[i]) == SECTION_PRIMARY;
	return any;
}

static bool has_states(const struct sheet *sheet)
{
	for (size_t i = 0; i < METRIC_COUNT + DERIVED_COUNT; i++)
		if (sheet->measures[i].section == SECTION_THREAD_STATES &&
		    selection_has(&sheet->view->metrics, (unsigned)i) &&
		    sheet_has(sheet, SECTION_THREAD_STATES))
			return true;
	return false;
}

static bool has_derived(const struct sheet *sheet)
{
	for (enum derived_id i = 0; i < DERIVED_COUNT; i++)
		if (selection_has_derived(&sheet->view->metrics, i) &&
		    derived_metrics[i].section != SECTION_THREAD_STATES &&
		    sheet_has(sheet, derived_metrics[i].section))
			return true;
	return false;
}

static bool wants_group_sections(const struct sheet *sheet)
{
	return sheet_has(sheet, SECTION_PRIMARY) || sheet_has(sheet, SECTION_TASKSTATS_DELAY) ||
	       sheet_has(sheet, SECTION_DERIVED) || sheet_has(sheet, SECTION_THREAD_STATES);
}

const char *wording_nothing(const struct sheet *sheet)
{
	bool filtered = sheet->view->match.count || sheet->view->not_match.count;

	if (!wants_group_sections(sheet))
		return NULL;
	if (!sheet->matching)
		return filtered ? "no group matches" : "no threads";
	if (!sheet->shared)
		return sheet->view->window ? "no thread is in both" : "no group is in both";
	if (!has_primary(sheet) && !has_derived(sheet) && !has_states(sheet))
		return "no metric is in both --metrics and --sections";
	return NULL;
}

static bool has_context(const struct ctprof_snapshot *s)
{
	return s && s->host;
}

const char *wording_empty(const struct sheet *sheet, enum section section)
{
	bool named = sheet->view->sections_named;

	if (section == SECTION_HOST &&
	    (!has_context(sheet->candidate) || (sheet->comparing && !has_context(sheet->baseline))))
		return "(host context unavailable)";
	if (section == SECTION_SCHED_EXT && named && !sheet->candidate->sched_ext)
		return "(the kernel has no sched_ext)";
	if (section != SECTION_PRIMARY && !named)
		return NULL;
	if ((section == SECTION_PRIMARY && !has_primary(sheet)) ||
	    (section == SECTION_DERIVED && !has_derived(sheet)))
		return NULL;
	if (section_infos[section].subject == SUBJECT_GROUP && wording_nothing(sheet))
		return NULL;
	if (section_infos[section].subject == SUBJECT_PROCESS && !sheet->matching)
		return wording_nothing(sheet) ? NULL : "no group matches";
	return sheet->comparing && sheet->parts[section].any_value ? "nothing changed"
								   : "nothing measured";
}

char *wording_alones(const struct sheet *sheet, bool before)
{
	const struct alones *alones = before ? &sheet->only_before : &sheet->only_after;
	const struct sides *sides = sheet->sides;
	const char *name = sides->items[before ? 0 : sides->count - 1].name;
	size_t count = alones->count + alones->left_out;
	char *visible = text_visible(text_of(name)), *line = NULL;
	int length;

	if (!count || !visible) {
		free(visible);
		return NULL;
	}
	if (sheet->view->window)
		length = asprintf(&line, "%zu group%s of threads that %s in between:", count,
				  plural(count), before ? "ended" : "began");
	else
		length = asprintf(&line, "%zu group%s only in %s (%s):", count, plural(count),
				  before ? "baseline" : "candidate", visible);
	free(visible);
	return length < 0 ? NULL : line;
}

char *wording_left_out(size_t count, const char *what)
{
	char *line = NULL;

	return asprintf(&line, "... %zu more %s%s (--limit 0 shows all)", count, what,
			plural(count)) < 0
		       ? NULL
		       : line;
}

char *wording_finding(const struct finding *finding)
{
	_cleanup_free_ char *text = text_visible(text_of(finding->judgement->text));
	size_t rows = finding->count;
	char *line = NULL;
	int length = 0;

	if (!text)
		return NULL;
	switch (finding->verdict) {
	case VERDICT_HOLDS:
		length = asprintf(&line, "--fail-if '%s': no, of %zu group%s", text,
				  finding->groups, plural(finding->groups));
		break;
	case VERDICT_BROKEN:
		length =
			asprintf(&line, "--fail-if '%s': yes, %zu row%s", text, rows, plural(rows));
		break;
	case VERDICT_UNDECIDED:
		if (finding->impossible && finding->unmeasured)
			length = asprintf(
				&line,
				"--fail-if '%s': undecided, not measured in %zu and marked "
				"(!) in %zu of %zu groups",
				text, finding->unmeasured, finding->impossible, finding->groups);
		else if (finding->impossible)
			length = asprintf(
				&line,
				"--fail-if '%s': undecided, marked (!) in %zu of %zu group%s", text,
				finding->impossible, finding->groups, plural(finding->groups));
		else if (finding->groups)
			length = asprintf(&line,
					  "--fail-if '%s': undecided, not measured in %zu of %zu "
					  "group%s",
					  text, finding->unmeasured, finding->groups,
					  plural(finding->groups));
		else
			length = asprintf(
				&line, "--fail-if '%s': undecided, no such group is in both", text);
		break;
	}
	return length < 0 ? NULL : line;
}
