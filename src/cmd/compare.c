/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/display.h"
#include "cmd/inputs.h"
#include "cmd/profile_beside.h"
#include "snapshot/recording.h"

struct compare_arguments {
	struct display display; /* first: the options of display know its place */
	struct patterns baseline, candidate;
	char *from, *to; /* of a lone recording */
	const char *flame;
};

#define AT(member) offsetof(struct compare_arguments, member)

static struct error *parse_file(const char *argument, void *at)
{
	struct patterns *files = at;

	return array_push(files, argument) ? NULL : &error_no_memory;
}

static const struct option_row compare_options[] = {
	DISPLAY_OPTIONS(parse_compare_columns, compare_column_name, parse_compare_sort,
			compare_sort_name, SORT_ROWS_HELP, LIMIT_ROWS_HELP, ALL_ROWS_COMPARE_HELP),
	COMPARE_OPTIONS(WINDOW_HELP
			"The default in table and markdown of two snapshots of one boot, without "
			"--fail-if and --normalize."),
	{ "baseline", 0, "FILE...", parse_file, AT(baseline),
	  "Compare several captures of each side; the report then gives the significance of each "
	  "difference.",
	  NULL, true },
	{ "candidate", 0, "FILE...", parse_file, AT(candidate), "The captures of the other side.",
	  NULL, true },
	{ "flame", 0, "FILE", parse_string, AT(flame),
	  "Also write the differential flame graph of the two profiles that capture --profile "
	  "wrote beside the snapshots. The suffix of FILE is .svg, .html or .folded.",
	  NULL, false },
};

/* --- loading, both sides at once --- */

struct compare_loading {
	const struct view *view;
	struct side *sides;
	char **paths;
	size_t first, end;
	struct error *error;
};

/* For a recording, the report names the capture that was picked. */
static struct error *load_side(const struct view *view, struct side *side, char **path)
{
	struct ctprof_snapshot *snapshot = NULL;
	struct error *err = input_snapshot(side->name, view, &snapshot, path);

	if (err)
		return err;
	side->name = *path;
	side->snapshot = snapshot;
	return NULL;
}

static void *load_snapshot(void *context)
{
	struct compare_loading *loading = context;

	for (size_t i = loading->first; i < loading->end && !loading->error; i++)
		loading->error = load_side(loading->view, &loading->sides[i], &loading->paths[i]);
	return NULL;
}

/* Each half of the files in a thread of its own: a machine that has two CPUs needs half the time.
 */
static struct error *load_all(const struct view *view, struct side *sides, char **paths,
			      size_t baselines, size_t count)
{
	struct compare_loading before = { view, sides, paths, 0, baselines, NULL };
	struct compare_loading after = { view, sides, paths, baselines, count, NULL };
	pthread_t thread;
	bool apart = pthread_create(&thread, NULL, load_snapshot, &before) == 0;

	load_snapshot(&after);
	if (apart)
		pthread_join(thread, NULL);
	else
		load_snapshot(&before);
	if (before.error) {
		error_destroy(after.error);
		return before.error;
	}
	return after.error;
}

/* Compare the profiles of two snapshots only: profiles of several are not comparable. */
static struct error *compare_profiles(const struct side *sides, size_t count, const char *flame)
{
	if (count == 2 && flame)
		return profile_beside_diff(sides[0].name, sides[1].name, flame);
	if (count == 2)
		profile_beside_hint(sides[0].name, sides[1].name);
	return NULL;
}

static int compare(struct display *display, struct side *sides, size_t baselines, size_t count,
		   const char *flame)
{
	_cleanup_free_ char **paths = calloc(count, sizeof(*paths));
	struct error *err =
		paths ? load_all(&display->view, sides, paths, baselines, count) : &error_no_memory;
	int status;

	if (!err)
		for (size_t i = 0; i < count; i++)
			print_remarks(sides[i].name, sides[i].snapshot);
	if (!err) {
		sides_sort(sides, baselines);
		sides_sort(sides + baselines, count - baselines);
	}
	if (!err)
		err = inputs_check_view(sides, count, &display->view);
	if (!err)
		err = inputs_equalise(sides, count, stderr);
	if (!err)
		display_window_of_boot(display, sides, count);
	if (!err)
		err = compare_profiles(sides, count, flame);
	status = err ? report_error(err, STATUS_FAILED)
		     : display_print(display, sides, baselines, count);
	for (size_t i = 0; i < count; i++)
		snapshot_destroy((struct ctprof_snapshot *)(uintptr_t)sides[i].snapshot);
	for (size_t i = 0; paths && i < count; i++)
		free(paths[i]);
	return status;
}

/* --- which files --- */

/* A recording alone is compared with itself: its begin with its end. */
static struct error *take_recording(struct compare_arguments *arguments, const char *operand)
{
	struct error *err = recording_span(operand, &arguments->from, &arguments->to);

	if (err || !arguments->from)
		return err;
	if (!array_push(&arguments->baseline, arguments->from) ||
	    !array_push(&arguments->candidate, arguments->to))
		return &error_no_memory;
	return NULL;
}

/* Two operands, or the two options; or one recording. */
static struct error *take_operands(struct compare_arguments *arguments, int count, char **operands)
{
	bool options = arguments->baseline.count || arguments->candidate.count;
	struct error *err = !options && count == 1 ? take_recording(arguments, operands[0]) : NULL;

	if (options && (count || !arguments->baseline.count || !arguments->candidate.count))
		return error_create("--baseline and --candidate require each other, and exclude "
				    "other operands");
	if (err || arguments->from)
		return err;
	if (!options && count != 2)
		return error_create("compare takes BASELINE CANDIDATE, one RECORDING, or "
				    "--baseline FILE... --candidate FILE...");
	if (!options && (!array_push(&arguments->baseline, operands[0]) ||
			 !array_push(&arguments->candidate, operands[1])))
		return &error_no_memory;
	return NULL;
}

static struct error *list_sides(const struct compare_arguments *arguments, struct side *ret)
{
	size_t count = 0, inputs = 0;

	for (size_t i = 0; i < arguments->baseline.count; i++)
		ret[count++].name = arguments->baseline.items[i];
	for (size_t i = 0; i < arguments->candidate.count; i++)
		ret[count++].name = arguments->candidate.items[i];
	for (size_t i = 0; i < count; i++)
		inputs += strcmp(ret[i].name, "-") == 0;
	return inputs > 1 ? error_create("only one operand can be standard input") : NULL;
}

static int run_verb(const struct command *command, struct compare_arguments *arguments, int count,
		    char **operands)
{
	struct error *err = take_operands(arguments, count, operands);
	size_t files = arguments->baseline.count + arguments->candidate.count;
	_cleanup_free_ struct side *sides = calloc(files + 1, sizeof(*sides));

	if (!err && !sides)
		err = &error_no_memory;
	if (!err)
		err = list_sides(arguments, sides);
	if (!err)
		err = display_settle(&arguments->display,
				     files > 2 ? DISPLAY_SEVERAL : DISPLAY_TWO);
	if (!err && arguments->flame && files != 2)
		err = error_create("--flame requires two snapshots");
	if (err)
		return usage_error(command, err);
	return compare(&arguments->display, sides, arguments->baseline.count, files,
		       arguments->flame);
}

static int run_compare(const struct command *command, int argc, char **argv)
{
	struct compare_arguments arguments = { 0 };
	int status, first;

	display_init(&arguments.display);
	first = options_parse(command, argc, argv, &arguments, &status);
	if (first >= 0)
		status = run_verb(command, &arguments, argc - first, argv + first);
	array_deinit(&arguments.baseline);
	array_deinit(&arguments.candidate);
	free(arguments.from);
	free(arguments.to);
	display_deinit(&arguments.display);
	return status;
}

const struct command compare_command = {
	.name = "compare",
	.run = run_compare,
	.summary = "print what changed between two snapshots",
	.operands = "BASELINE CANDIDATE | RECORDING",
	.operands_least = 0,
	.operands_most = 2,
	.needs = "",
	.examples = { "ctprof compare before.ctprof.zst after.ctprof.zst",
		      "ctprof compare a.ctprof.zst b.ctprof.zst --match 'nginx*' --group-by cgroup",
		      "ctprof compare a.ctprof.zst b.ctprof.zst --fail-if 'run_time_ns > 10%'" },
	.options = compare_options,
	.option_count = array_length(compare_options),
};
