/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes before the numbers: what cannot be compared in two snapshots.
 */
#include <inttypes.h>
#include <stdio.h>

#include "compare/report_fill.h"

static const char *const origins[] = {
	[ORIGIN_CTPROF] = "ctprof",
	[ORIGIN_KTSTR] = "ktstr ctprof",
	[ORIGIN_HOST_STATE] = "ktstr host-state",
};

static bool names_differ(const struct name *x, const struct name *y)
{
	return x && y && name_compare(x, y) != 0;
}

static bool note_hosts(struct report *report)
{
	const struct host_context *x = report->baseline->host, *y = report->candidate->host;

	if (!x || !y)
		return true;
	if (names_differ(x->kernel_release, y->kernel_release) &&
	    !report_note(report,
			 "different kernels (%s, %s): a counter that only one of them has is '-', "
			 "and differences may come from the kernel",
			 x->kernel_release->bytes, y->kernel_release->bytes))
		return false;
	if (names_differ(x->arch, y->arch) &&
	    !report_note(report,
			 "different architectures (%s, %s): CPU numbers and sizes of pages cannot "
			 "be compared",
			 x->arch->bytes, y->arch->bytes))
		return false;
	return true;
}

static bool note_files(struct report *report)
{
	const struct ctprof_snapshot *x = report->baseline, *y = report->candidate;

	if (x->origin != y->origin &&
	    !report_note(
		    report,
		    "files of different tools (%s, %s): zeros in the file that is not ctprof's "
		    "may be unmeasured values",
		    origins[x->origin], origins[y->origin]))
		return false;
	return !x->capture || !y->capture || x->capture->redacted == y->capture->redacted ||
	       report_note(report, "only one of them is redacted: names do not match");
}

static bool note_boots(struct report *report)
{
	const char *what = sides_need_one_boot(report->sides);

	return !what || report->boots != BOOTS_UNKNOWN ||
	       report_note(report, "a file has no boot ID: %s assumes that both are of one boot",
			   what);
}

/* Rows that the version which wrote one of the files did not have, and the other did. */
static bool note_age(struct report *report, const char *side, const struct ctprof_snapshot *s,
		     const struct ctprof_snapshot *other)
{
	size_t unknown = 0;

	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		unknown += metric_set_has(&s->unknown, i) && !metric_set_has(&other->unknown, i);
	return !unknown ||
	       report_note(report,
			   "the %s is from another version of ctprof (%s), which lacks %zu of "
			   "the metrics of the other",
			   side, s->version ? s->version->bytes : "?", unknown);
}

static bool note_ages(struct report *report)
{
	/* Files of others do not say what they could have had, and queries are no files. */
	if (report->baseline->observed_ns || report->candidate->observed_ns ||
	    report->baseline->origin != ORIGIN_CTPROF || report->candidate->origin != ORIGIN_CTPROF)
		return true;
	return note_age(report, "baseline", report->baseline, report->candidate) &&
	       note_age(report, "candidate", report->candidate, report->baseline);
}

static bool note_renamed(struct report *report)
{
	return !report->sides->renamed.not_looked_at ||
	       report_note(report, "renamed cgroups were searched among the %d largest only",
			   RENAMED_CGROUPS_MOST);
}

static bool note_normalize(struct report *report)
{
	if (report->view->normalize != NORMALIZE_AGE)
		return true;
	return (snapshot_age_ticks(report->candidate).measured &&
		(!report->comparing || snapshot_age_ticks(report->baseline).measured)) ||
	       report_note(report, "a file has no uptime of its host: ages are relative to the "
				   "start of its youngest thread");
}

static bool note_ticks(struct report *report)
{
	return !report->odd_ticks ||
	       report_note(report, "ticks are not 1/100 s in each file: tick-based metrics are "
				   "shown as if they were, and have no delta; ages are "
				   "unavailable");
}

/* --- waits in progress --- */

/* Would a total of this selection, or a derived one, have it in? */
static bool takes_waits(const struct report *report, enum metric_id id)
{
	const struct selection *shown = &report->view->metrics;

	if (metric_set_has(&shown->metrics, id) && report_has(report, metrics[id].section))
		return true;
	for (enum derived_id i = 0; i < DERIVED_COUNT; i++)
		if (selection_has_derived(shown, i) &&
		    report_has(report, derived_metrics[i].section) &&
		    derived_takes_waits(&derived_metrics[i], &metrics[id]))
			return true;
	return false;
}

/* "wait_time_ns, block_sum", of those in `which` that are shown. There are but a few in the table.
 */
#define TOTALS_MAX 512
static bool name_totals(char *names, const struct report *report, const struct metric_set *which)
{
	size_t used = 0;

	names[0] = '\0';
	for (enum metric_id i = 0; i < METRIC_COUNT && used < TOTALS_MAX; i++)
		if (metric_set_has(which, i) && takes_waits(report, i))
			used += (size_t)snprintf(names + used, TOTALS_MAX - used, "%s%s",
						 used ? ", " : "", metrics[i].name);
	return used > 0;
}

static bool note_lacking(struct report *report, const struct side *side)
{
	struct metric_set totals = waits_left_out(&report->sides->waits, side->snapshot);
	char names[TOTALS_MAX];

	return !name_totals(names, report, &totals) ||
	       report_note(report, "waits in progress are left out of %s: %s has none%s", names,
			   side->name,
			   snapshot_is_by_bpf(side->snapshot) ? "" : " (captured without BPF)");
}

static bool note_waits(struct report *report)
{
	const struct sides *sides = report->sides;
	struct metric_set unwanted = waits_left_out(&sides->waits, NULL);
	char names[TOTALS_MAX];
	bool done = true;

	if (name_totals(names, report, &sides->waits.added))
		done = report_note(
			report,
			"waits in progress are counted in %s (--completed-only leaves them "
			"out)",
			names);
	if (done && name_totals(names, report, &unwanted))
		done = report_note(report, "waits in progress are left out of %s: --completed-only",
				   names);
	for (size_t i = 0; i < sides->count && done; i++)
		done = note_lacking(report, &sides->items[i]);
	return done;
}

/* Rows that say what another one says. */
static bool note_folded(struct report *report)
{
	const struct view *view = report->view;
	char names[TOTALS_MAX];
	size_t used = 0;

	/* For one snapshot, metrics are shown only if groups or sections are selected. */
	if (!report->comparing && !view->match.count && !view->sections_named)
		return true;
	for (enum metric_id i = 0; i < METRIC_COUNT && used < sizeof(names); i++)
		if (metric_set_has(&report->folded, i))
			used += (size_t)snprintf(
				names + used, sizeof(names) - used, "%s%s = %s", used ? ", " : "",
				metrics[metric_twin_of(i)->shown].name, metrics[i].name);
	return !used || report_note(report, "one fact under two names, shown once: %s", names);
}

/* --- what cannot be --- */

/* "run_time_ns, avg_wait_ns and 3 more": the first that are selected. */
#define NAMES_SHOWN 4
#define NAMES_MAX   320
static void name_selected(char *names, const struct report *report, const struct selection *which)
{
	size_t used = 0, shown = 0, more = 0;

	for (unsigned i = 0; i < METRIC_COUNT + DERIVED_COUNT; i++) {
		if (!selection_has(which, i))
			continue;
		if (shown == NAMES_SHOWN)
			more++;
		else
			used += (size_t)snprintf(names + used, NAMES_MAX - used, "%s%s",
						 shown++ ? ", " : "", report->measures[i].name);
	}
	if (more)
		snprintf(names + used, NAMES_MAX - used, " and %zu more", more);
}

static bool note_impossible(struct report *report)
{
	char names[NAMES_MAX];

	if (!report->marked_rows)
		return true;
	name_selected(names, report, &report->marked);
	return report_note(report,
			   "(!) marks impossible values, in %zu row%s of %s: more than a thread "
			   "lived%s. The kernel accounted them wrongly%s",
			   report->marked_rows, plural(report->marked_rows), names,
			   report->comparing ? ", or than passed between the captures" : "",
			   report->comparing ? "; they rank last" : "");
}

/* Shown totals whose waits in progress are unknown. */
static bool note_began_before(struct report *report)
{
	struct selection which = { 0 };
	char names[NAMES_MAX];

	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metric_set_has(&report->impossible.began_before, i) &&
		    metric_set_has(&report->view->metrics.metrics, i) &&
		    report_has(report, metrics[i].section))
			metric_set_add(&which.metrics, i);
	if (metric_set_is_empty(&which.metrics))
		return true;
	name_selected(names, report, &which);
	return report_note(
		report,
		"%s grew by more than the time between the captures in some thread: a wait "
		"that began before is accounted when it ends",
		names);
}

/* --- what is in no row --- */

static bool note_lost(struct report *report, const char *side, const struct ctprof_snapshot *s)
{
	uint64_t lost = s && s->capture ? s->capture->threads_lost.value : 0;

	return !lost || report_note(report, "%s: %" PRIu64 " thread%s ended while being read", side,
				    lost, plural(lost));
}

static bool note_cut_short(struct report *report)
{
	const struct sides *sides = report->sides;
	bool done = true;

	for (size_t i = 0; i < sides->count && done; i++) {
		const struct capture_info *capture = sides->items[i].snapshot->capture;

		if (capture && capture->cut_short)
			done = report_note(report, "%s is incomplete: timed out",
					   sides->items[i].name);
	}
	return done;
}

static bool note_strangers(struct report *report)
{
	return !report->strangers ||
	       report_note(report,
			   "%zu thread%s of the candidate began before the baseline, which "
			   "lacks them: left out",
			   report->strangers, plural(report->strangers));
}

/* A counter of the host, added up over its CPUs. */
static bool sum_counter(const struct ctprof_snapshot *s, enum counter_kind kind, struct text key,
			uint64_t *ret)
{
	bool found = false;

	*ret = 0;
	for (size_t i = 0; i < s->counters.count; i++) {
		const struct counter_set *set = &s->counters.items[i];

		for (size_t k = 0; set->kind == kind && k < set->counts.count; k++)
			if (text_equal(name_text(set->counts.items[k].key), key)) {
				*ret += set->counts.items[k].value;
				found = true;
			}
	}
	return found;
}

static bool counter_grew(const struct report *report, enum counter_kind kind, struct text key,
			 uint64_t *ret)
{
	uint64_t before, after;

	if (!sum_counter(report->baseline, kind, key, &before) ||
	    !sum_counter(report->candidate, kind, key, &after) || after < before)
		return false;
	*ret = after - before;
	return true;
}

static uint64_t run_time(const struct ctprof_thread *thread)
{
	return metric_set_has(&thread->record.measured, METRIC_run_time_ns)
		       ? thread->record.values.run_time_ns.v
		       : 0;
}

/* The order that a capture has its threads in: by process, the leader first. */
static int compare_threads(const struct ctprof_thread *x, const struct ctprof_thread *y)
{
	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if (x->tid == y->tid)
		return 0;
	if (x->tid == x->tgid || y->tid == y->tgid)
		return x->tid == x->tgid ? -1 : 1;
	return x->tid < y->tid ? -1 : 1;
}

static bool is_same_thread(const struct ctprof_thread *x, const struct ctprof_thread *y)
{
	return compare_threads(x, y) == 0 &&
	       x->start_time_clock_ticks.value == y->start_time_clock_ticks.value;
}

/* Time on a CPU between two captures, of the threads that the later one has. Both are walked side
 * by side: a file that was put in another order is given up, as this is but a remark. */
static bool seen_run_time(const struct ctprof_snapshot *earlier,
			  const struct ctprof_snapshot *later, uint64_t *ret)
{
	const struct ctprof_thread *last = NULL;

	*ret = 0;
	for (size_t i = 0, k = 0; i < later->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(later, i);
		uint64_t after = run_time(thread), before = 0;

		if (last && compare_threads(last, thread) >= 0)
			return false;
		last = thread;
		while (k < earlier->threads.count &&
		       compare_threads(snapshot_thread(earlier, k), thread) < 0)
			k++;
		if (k < earlier->threads.count &&
		    is_same_thread(snapshot_thread(earlier, k), thread))
			before = run_time(snapshot_thread(earlier, k));
		if (after > before)
			*ret += after - before;
	}
	return true;
}

bool report_is_of_host(const struct ctprof_snapshot *s)
{
	for (size_t i = 0; i < s->processes.count; i++)
		if (s->processes.items[i].tgid == 1)
			return true;
	return false;
}

/* Said when it is more than this of what the CPUs did, and more than their clock's grain. */
#define UNSEEN_SHARE 0.1
#define UNSEEN_LEAST 0.1

/* A thread that ended between two captures is in neither, and its CPU time in no row. */
static bool note_unseen(struct report *report)
{
	uint64_t ticks, seen_ns, forks = 0;
	double busy, seen;

	if (report->boots != BOOTS_SAME || report->elapsed_s <= 0 || report->odd_ticks ||
	    !report_is_of_host(report->baseline) || !report_is_of_host(report->candidate) ||
	    !counter_grew(report, COUNTERS_CPU, TEXT("busy_ticks"), &ticks))
		return true;
	if (!seen_run_time(report->baseline, report->candidate, &seen_ns))
		return true;
	counter_grew(report, COUNTERS_KERNEL, TEXT("forks"), &forks);
	busy = (double)ticks / TICKS_PER_S;
	seen = (double)seen_ns / NS_PER_S;
	if (busy - seen < UNSEEN_LEAST || busy - seen < busy * UNSEEN_SHARE)
		return true;
	return report_note(report,
			   "CPUs busy %.3f s, of which threads of the candidate %.3f s; the rest: "
			   "ended threads, interrupts (%" PRIu64 " threads began)",
			   busy, seen, forks);
}

struct error *report_fill_notes(struct report *report)
{
	bool done = note_waits(report) && note_folded(report);

	report->notes_on_rows = report->notes.count;
	done = done && note_impossible(report) && note_began_before(report) && note_ticks(report) &&
	       note_normalize(report);
	done = done && note_cut_short(report) && note_lost(report, "baseline", report->baseline) &&
	       note_lost(report, report->comparing ? "candidate" : "snapshot", report->candidate);
	if (report->comparing)
		done = done && note_strangers(report) && note_ages(report) && note_unseen(report) &&
		       note_boots(report) && note_hosts(report) && note_files(report) &&
		       note_renamed(report);
	return done ? NULL : &error_no_memory;
}
