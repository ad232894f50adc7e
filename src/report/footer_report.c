/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/units.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_wording.h"
#include "report/visible.h"

/* --- head --- */

struct error *head_report(FILE *out, const struct profile_report *report,
			  const struct profile_style *style)
{
	const struct name *target = report->profile->meta.target;
	const char *title = profile_title(report);
	_cleanup_free_ char *origin = NULL;
	size_t length;
	FILE *memory = open_memstream(&origin, &length);

	if (!memory)
		return &error_no_memory;
	profile_origin(memory, report);
	if (!file_close_memory(memory, &origin))
		return &error_no_memory;
	if (style->colour)
		fputs("\033[1m", out);
	text_print_visible(out, text_of(title), 0);
	if (target) {
		fputs(" of ", out);
		text_print_visible(out, name_text(target), 0);
	}
	if (style->colour)
		fputs("\033[0m", out);
	if (length)
		fputs(": ", out);
	text_print_visible(out, (struct text){ origin, length }, 0);
	fputc('\n', out);
	return NULL;
}

/* --- foot --- */

static void print_events(FILE *out, const struct profile *profile, bool all)
{
	const struct profile_losses *l = &profile->meta.losses;

	if (l->switches && all)
		fprintf(out, " seen      %" PRIu64 " switches\n", l->switches);
	fprintf(out, " events    %" PRIu64 ", of which %" PRIu64 " kept", l->events, l->kept);
	if (l->in_progress)
		fprintf(out, "; and %" PRIu64 " wait%s that had not ended", l->in_progress,
			plural(l->in_progress));
	fputc('\n', out);
}

/* Without a time where it is not known: of losses in stores, and of hits of probes. */
static void print_lost(FILE *out, const struct profile_losses *l, double kept_ns)
{
	char value[UNITS_TEXT_MAX];

	if (!l->lost) {
		fputs(l->rows_lost ? " lost      no event\n" : " lost      nothing\n", out);
		return;
	}
	fprintf(out, " lost      %" PRIu64 " event%s", l->lost, plural(l->lost));
	if (l->lost_ns)
		fprintf(out, ", %s (%.3f%% of the time)", units_format(value, UNIT_NS, l->lost_ns),
			100 * share_of((double)l->lost_ns, kept_ns + (double)l->lost_ns));
	fputc('\n', out);
}

static void print_truncated(FILE *out, const struct profile_meta *meta, bool all)
{
	const struct profile_losses *l = &meta->losses;
	const bool has_limit = meta->memory_limit || l->memory_refused;
	const char *option = has_limit ? "--memory" : "--max-map-memory";

	if (l->user_truncated || l->kernel_truncated)
		fprintf(out,
			" cut       %" PRIu64 " user and %" PRIu64
			" kernel stacks had more frames than were taken\n",
			l->user_truncated, l->kernel_truncated);
	if (l->threads_lost)
		fprintf(out, " threads   %" PRIu64 " came when there was no room for them (%s)\n",
			l->threads_lost, option);
	if (l->threads_torn)
		fprintf(out,
			" threads   %" PRIu64
			" changed during every read: a part of their time may count twice\n",
			l->threads_torn);
	if (l->missed && all)
		fprintf(out,
			" missed    %" PRIu64
			" switches; the kernel's count of run time stands in for them\n",
			l->missed);
	if (l->maps_lost)
		fprintf(out, " mappings  %" PRIu64 " records lost: names may be missing\n",
			l->maps_lost);
	if (l->tables_failed)
		fprintf(out,
			" tables    of %" PRIu64
			" files could not be built: stacks there use frame pointers\n",
			l->tables_failed);
	if (l->tables_lost || l->mappings_lost)
		fprintf(out,
			" tables    no room for %" PRIu64 ", nor for %" PRIu64
			" mappings of large processes: their stacks use frame pointers\n",
			l->tables_lost, l->mappings_lost);
	/* A store does not record the limits of agents. */
	if (l->memory_refused && !meta->memory_limit)
		fprintf(out, " memory    was refused %" PRIu64 " time%s: --memory was reached\n",
			l->memory_refused, plural(l->memory_refused));
	if (l->rows_lost)
		fprintf(out, " rows      %" PRIu64 " row%s of samples did not reach the store\n",
			l->rows_lost, plural(l->rows_lost));
}

/* --- memory --- */

static void print_left_out(FILE *out, bool *any, uint64_t count, const char *one, const char *many)
{
	if (!count)
		return;
	fprintf(out, "%s%" PRIu64 " %s", *any ? ", " : ": ", count, count == 1 ? one : many);
	*any = true;
}

static void print_limit(FILE *out, const struct profile_meta *meta, double kept_ns)
{
	const struct profile_losses *l = &meta->losses;
	char limit[UNITS_TEXT_MAX];
	bool any = false;

	if (!meta->memory_limit)
		return;
	units_format(limit, UNIT_BYTES, meta->memory_limit);
	if (!l->memory_refused && !l->lost && !l->threads_lost && !l->tables_lost &&
	    !l->maps_lost) {
		fprintf(out, " memory    limit of %s not reached\n", limit);
		return;
	}
	fprintf(out, " memory    limit of %s reached", limit);
	print_left_out(out, &any, l->tables_lost, "unwind table was not made",
		       "unwind tables were not made");
	if (l->tables_lost && meta->without_table) {
		fputs(" (", out);
		text_print_visible(out, name_text(meta->without_table), 0);
		fputs(")", out);
	}
	print_left_out(out, &any, l->lost, "event was lost", "events were lost");
	if (l->lost)
		fprintf(out, " (%.3f%% of the time)",
			100 * share_of((double)l->lost_ns, kept_ns + (double)l->lost_ns));
	print_left_out(out, &any, l->threads_lost, "thread has no record",
		       "threads have no record");
	print_left_out(out, &any, l->maps_lost, "mapping is unknown", "mappings are unknown");
	fputs(any ? "\n" : ": nothing was left out\n", out);
}

/* --- how stacks of user space were had --- */

static const char *const worths[WALK_WORTHS] = {
	[WALK_WHOLE] = "complete",
	[WALK_BY_POINTER] = "by frame pointers",
	[WALK_CUT] = "truncated",
	[WALK_SHORT] = "ended early",
};

static void print_reasons(FILE *out, const uint64_t walks[WALK_ENDS], enum walk_worth worth)
{
	bool any = false;

	for (size_t end = 0; end < WALK_ENDS; end++) {
		if (!walks[end] || walk_ends[end].worth != worth || !walk_ends[end].why)
			continue;
		fprintf(out, "%s%s %" PRIu64, any ? ", " : " (", walk_ends[end].why, walks[end]);
		any = true;
	}
	if (any)
		fputc(')', out);
}

static void print_walks(FILE *out, const uint64_t walks[WALK_ENDS])
{
	const char *before = ": ";
	uint64_t sum = 0;

	for (size_t end = 0; end < WALK_ENDS; end++)
		sum += walks[end];
	if (!sum)
		return;
	fprintf(out, " walks     %" PRIu64 " user stack%s", sum, plural(sum));
	for (enum walk_worth worth = 0; worth < WALK_WORTHS; worth++) {
		uint64_t of_worth = walk_ends_worth(walks, worth);

		if (!of_worth)
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, of_worth, worths[worth]);
		print_reasons(out, walks, worth);
		before = ", ";
	}
	fputc('\n', out);
}

static void print_checked(FILE *out, const struct profile_losses *l)
{
	const struct {
		const char *what;
		uint64_t recognised, checked, wrong;
	} kinds[] = {
		{ "kernel", l->stacks_recognised, l->stacks_checked, l->stacks_wrong },
		{ "user", l->user_stacks_recognised, l->user_stacks_checked, l->user_stacks_wrong },
	};
	const char *line = "checked";

	for (size_t i = 0; i < array_length(kinds); i++) {
		if (!kinds[i].checked)
			continue;
		fprintf(out, " %-9s %" PRIu64, line, kinds[i].checked);
		/* Files of before do not say of how many. */
		if (kinds[i].recognised)
			fprintf(out, " of %" PRIu64, kinds[i].recognised);
		fprintf(out, " recognised %s stacks walked again, %" PRIu64 " wrong\n",
			kinds[i].what, kinds[i].wrong);
		line = "";
	}
}

/* --- what it cost --- */

/* Below this duration, the share of a CPU measures starting and naming only. */
#define SHARE_NS NS_PER_S

static void print_cost(FILE *out, const struct profile_meta *meta, bool all)
{
	const struct profile_losses *l = &meta->losses;
	char value[UNITS_TEXT_MAX];

	if (l->runs && all)
		fprintf(out,
			" kernel    %.0fns for each run of our BPF programs (%" PRIu64
			" in the first second, %s)\n",
			share_of((double)l->run_ns, (double)l->runs), l->runs,
			units_format(value, UNIT_NS, l->run_ns));
	if (l->own_cpu_ns)
		fprintf(out, " ctprof    %s of CPU time",
			units_format(value, UNIT_NS, l->own_cpu_ns));
	if (l->own_cpu_ns && meta->duration_ns >= SHARE_NS)
		fprintf(out, " (%.2f%% of a CPU)",
			100 * share_of((double)l->own_cpu_ns, (double)meta->duration_ns));
	if (l->own_cpu_ns)
		fputc('\n', out);
}

struct error *footer_report(FILE *out, const struct profile_report *report,
			    const struct profile_style *style)
{
	const struct profile *profile = report->profile;
	const struct profile_losses *l = &profile->meta.losses;
	char value[UNITS_TEXT_MAX];
	double kept;

	/* A profile of another tool does not have these numbers. */
	if (!l->events && !l->switches)
		return NULL;
	print_heading(out, style, "Collection");
	print_events(out, profile, style->all);
	if (l->filtered)
		fprintf(out, " filtered  %" PRIu64 " event%s, %s\n", l->filtered,
			plural(l->filtered), units_format(value, UNIT_NS, l->filtered_ns));
	kept = (double)profile_total_ns(profile, FLAME_ALL & ~FLAME_EVENTS);
	print_lost(out, l, kept);
	print_limit(out, &profile->meta, kept);
	print_truncated(out, &profile->meta, style->all);
	if (style->all ||
	    walk_ends_worth(l->walks, WALK_CUT) + walk_ends_worth(l->walks, WALK_SHORT))
		print_walks(out, l->walks);
	if (style->all || l->stacks_wrong || l->user_stacks_wrong)
		print_checked(out, l);
	print_cost(out, &profile->meta, style->all);
	return NULL;
}
