/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/profile_wording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profile/flame_change.h"
#include "report/flame_answer.h"
#include "report/flame_walk.h"
#include "report/visible.h"

#define DAY_S 86400

/* --- the whole --- */

/* Titles by content: on-CPU time, off-CPU time, and whether it is a difference. */
static const char *const titles[2][2][2] = {
	{ { "Empty profile", "Empty profile (difference)" },
	  { "Off-CPU time", "Off-CPU time (difference)" } },
	{ { "On-CPU time", "On-CPU time (difference)" },
	  { "Time on and off the CPU", "Time on and off the CPU (difference)" } },
};

static bool has_class(const struct profile_report *report, unsigned classes)
{
	const struct flame *flame = report->flame;

	/* Classes are those of the candidate; what only the baseline has is known from it. */
	return (flame_classes(flame) & classes) ||
	       (report->baseline && flame_baseline(flame, &flame->nodes.items[0]).total &&
		profile_total_ns(
			report->baseline,
			classes & (report->view->classes ? report->view->classes : FLAME_ALL)));
}

const char *profile_title(const struct profile_report *report)
{
	bool is_diff = report->flame->is_diff;

	if (report->title)
		return report->title;
	if (report->flame->is_events)
		return is_diff ? "Events (difference)" : "Events";
	return titles[has_class(report, FLAME_ON_CPU)][has_class(report, FLAME_OFF_CPU)][is_diff];
}

static const char *separated(bool *any)
{
	const char *comma = *any ? ", " : "";

	*any = true;
	return comma;
}

/* "2026-11-20 12:30:05 UTC", and of a query "2026-11-20 12:30:05 to 13:30:05 UTC", with the day if
 * the end is on another one. */
static void print_time(FILE *out, const struct profile_meta *meta)
{
	const time_t begin = (time_t)(meta->captured_at_unix_ns / NS_PER_S),
		     end = (time_t)(meta->end_unix_ns / NS_PER_S);
	char day[20], time[20], end_day[20], end_time[20];
	struct tm tm;

	if (!gmtime_r(&begin, &tm) || !strftime(day, sizeof(day), "%Y-%m-%d", &tm) ||
	    !strftime(time, sizeof(time), "%H:%M:%S", &tm))
		return;
	fprintf(out, "%s %s", day, time);
	if (end && gmtime_r(&end, &tm) && strftime(end_day, sizeof(end_day), "%Y-%m-%d ", &tm) &&
	    strftime(end_time, sizeof(end_time), "%H:%M:%S", &tm))
		fprintf(out, " to %s%s", begin / DAY_S == end / DAY_S ? "" : end_day, end_time);
	fputs(" UTC", out);
}

void profile_origin(FILE *out, const struct profile_report *report)
{
	const struct profile_meta *meta = &report->profile->meta;
	char value[UNITS_TEXT_MAX];
	bool any = false;

	if (meta->host)
		fprintf(out, "%s%s", separated(&any), meta->host->bytes);
	if (meta->kernel)
		fprintf(out, "%sLinux %s", separated(&any), meta->kernel->bytes);
	if (meta->duration_ns)
		fprintf(out, "%s%s", separated(&any),
			units_format(value, UNIT_NS, meta->duration_ns));
	if (meta->duration_ns && meta->cpus)
		fprintf(out, " on %" PRIu32 " CPU%s", meta->cpus, plural(meta->cpus));
	if (meta->captured_at_unix_ns) {
		fputs(separated(&any), out);
		print_time(out, meta);
	}
	if (meta->command)
		fprintf(out, "%s%s", any ? ": " : "", meta->command->bytes);
}

void profile_losses(FILE *out, const struct profile_report *report)
{
	const struct profile *profile = report->profile;
	const struct profile_losses *l = &profile->meta.losses;
	uint64_t kept = profile_total_ns(profile, FLAME_ALL & ~FLAME_EVENTS);
	uint64_t cut = l->user_truncated + l->kernel_truncated;
	uint64_t ended = walk_ends_worth(l->walks, WALK_SHORT);
	char value[UNITS_TEXT_MAX];

	if (l->lost)
		fprintf(out, "lost %" PRIu64 " event%s", l->lost, plural(l->lost));
	else
		fputs(l->threads_lost || l->rows_lost ? "lost no event" : "lost nothing", out);
	if (l->lost_ns)
		fprintf(out, ", %s (%.2f%%)", units_format(value, UNIT_NS, l->lost_ns),
			100 * share_of((double)l->lost_ns, (double)kept + (double)l->lost_ns));
	if (l->rows_lost)
		fprintf(out, ", %" PRIu64 " row%s of samples did not reach the store", l->rows_lost,
			plural(l->rows_lost));
	if (l->filtered)
		fprintf(out, ", filtered %" PRIu64 " event%s, %s", l->filtered, plural(l->filtered),
			units_format(value, UNIT_NS, l->filtered_ns));
	if (cut)
		fprintf(out, ", %" PRIu64 " stack%s truncated", cut, plural(cut));
	if (ended)
		fprintf(out, ", %" PRIu64 " user stack%s ended early", ended, plural(ended));
}

/* --- one node --- */

char *flame_value(char buffer[UNITS_TEXT_MAX], const struct flame *flame, uint64_t value)
{
	return units_format(buffer, flame->is_events ? UNIT_COUNT : UNIT_NS, value);
}

char *flame_delta(char buffer[UNITS_TEXT_MAX], const struct flame *flame, const uint64_t values[2])
{
	return units_format_delta(buffer, flame->is_events ? UNIT_COUNT : UNIT_NS,
				  (__int128)values[1] - values[0]);
}

const char *frame_note(const struct flame_face *face)
{
	return face->inlined ? "inlined" : face->kind == FRAME_KERNEL ? "kernel" : NULL;
}

static void print_value(FILE *out, const struct flame *flame, const char *what, uint64_t value,
			uint64_t whole)
{
	char text[UNITS_TEXT_MAX];

	fprintf(out, "\n%s%s, %.2f%%", what, flame_value(text, flame, value),
		100 * share_of((double)value, (double)whole));
}

static void print_change(FILE *out, const struct flame *flame, const char *what, uint64_t baseline,
			 uint64_t candidate)
{
	char before[UNITS_TEXT_MAX], after[UNITS_TEXT_MAX], delta[UNITS_TEXT_MAX];
	const uint64_t values[2] = { baseline, candidate };

	fprintf(out, "\n%s%s before, %s after: %s", what, flame_value(before, flame, baseline),
		flame_value(after, flame, candidate), flame_delta(delta, flame, values));
	if (baseline)
		fprintf(out, " (%+.1f%%)",
			100 * share_of((double)candidate - (double)baseline, (double)baseline));
}

/* Whether the difference is real. */
static void print_known(FILE *out, const struct flame *flame, uint32_t number)
{
	const struct flame_change *change;
	char text[FLAME_CHANGE_TEXT_MAX];

	if (!flame->changes)
		return;
	change = &flame->changes->nodes[number];
	if (!change->is_tested)
		fputs("\ntoo little to tell whether it differs", out);
	else
		fprintf(out, "\n%s: %s",
			change->is_known      ? "known to differ"
			: change->is_coloured ? "part of a function that is known to differ"
					      : "not known to differ",
			flame_change_text(text, change));
}

static void print_classes(FILE *out, const struct flame *flame, const struct flame_node *node)
{
	unsigned classes = flame_classes(flame);
	char value[UNITS_TEXT_MAX];

	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		const uint64_t total = flame_of_class(flame, node, class).total;

		if ((classes >> class & 1) && total)
			fprintf(out, "\n%s: %s, %.1f%%", profile_classes[class].name,
				flame_value(value, flame, total),
				100 * share_of((double)total, (double)node->total));
	}
}

/* Stretches off the CPU have a length each, samples on it only stand for one. */
static void print_count(FILE *out, const struct flame *flame, const struct flame_node *node)
{
	uint64_t on_cpu = flame_of_class(flame, node, CLASS_ON_CPU).total;
	char mean[UNITS_TEXT_MAX];

	if (!node->count || flame->is_events)
		return;
	if (!on_cpu)
		fprintf(out, "\n%" PRIu64 " time%s, %s each", node->count, plural(node->count),
			units_format(mean, UNIT_NS, node->total / node->count));
	else if (on_cpu == node->total)
		fprintf(out, "\n%" PRIu64 " sample%s", node->count, plural(node->count));
	else
		fprintf(out, "\n%" PRIu64 " samples and stretches", node->count);
}

void flame_details(FILE *out, const struct flame *flame, uint32_t number)
{
	const struct flame_node *root = &flame->nodes.items[0], *node = &flame->nodes.items[number];
	const struct flame_face *face = flame_face(flame, node);
	const struct flame_value baseline = flame_baseline(flame, node);
	const char *note = frame_note(face);

	text_print_visible(out, name_text(face->name), 0);
	if (note)
		fprintf(out, " [%s]", note);
	if (face->module && face->module->length) {
		fputs("\nin ", out);
		text_print_visible(out, name_text(face->module), 0);
	}
	if (flame->is_diff) {
		print_change(out, flame, "", baseline.total, node->total);
		print_known(out, flame, number);
		if (node->self || baseline.self)
			print_change(out, flame, "itself ", baseline.self, node->self);
		return;
	}
	print_value(out, flame, "", node->total, root->total);
	if (node->self && node->self != node->total)
		print_value(out, flame, "itself ", node->self, root->total);
	print_count(out, flame, node);
	print_classes(out, flame, node);
}
