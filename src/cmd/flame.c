/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flame: saved profiles, shown in any form; several together, or two sides against each other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cmd/inputs.h"
#include "cmd/profile_files.h"
#include "cmd/profile_output.h"
#include "report/flame_answer.h"

struct flame_arguments {
	struct profile_output output;
	bool diff, significant;
	struct flame_gate gate; /* --fail-if */
	const char *second;     /* the first file after "--"; NULL: there is no "--" */
	unsigned unit;          /* enum folded_unit and 1; 0: not said */
};

static struct error *parse_unit(const char *argument, void *at)
{
	const size_t number = option_value(argument, folded_unit_name);

	if (!folded_unit_name(number))
		return unknown_value("unit", argument, folded_unit_name);
	*(unsigned *)at = (unsigned)number + 1;
	return NULL;
}

static struct error *parse_fail_if(const char *argument, void *at)
{
	return flame_gate_add(at, argument);
}

static const struct option_row flame_rows[] = {
	{ "unit", 0, "UNIT", parse_unit, offsetof(struct flame_arguments, unit),
	  "The unit of the numbers in folded stacks, which these files do not state: samples (the "
	  "default), or times in ns, us, ms or s. ctprof writes ns.",
	  folded_unit_name, false },
	{ "diff", 0, NULL, parse_flag, offsetof(struct flame_arguments, diff),
	  "Show the difference between two files: the second minus the first.", NULL, false },
	{ "significant", 0, NULL, parse_flag, offsetof(struct flame_arguments, significant),
	  "With --diff: say which differences are known to be real, with interval and false "
	  "discovery rate; pictures draw the others grey. Several files of each side are runs: "
	  "those of the second stand after --.",
	  NULL, false },
	{ "fail-if", 0, "EXPR", parse_fail_if, offsetof(struct flame_arguments, gate),
	  "With --diff: exit with status 3 if a difference is known to meet it, e.g. "
	  "'func:parse_json > +2%', 'off:pthread_mutex_lock > 10%', 'group:nginx > 50ms'; with 4 "
	  "if nothing of that name was compared. Implies --significant.",
	  NULL, false },
	PROFILE_OUTPUT_OPTIONS(flame_arguments),
};

/* The state of loading files. */
struct flame_loading {
	const struct flame_arguments *arguments;
	const char *folded; /* a file with folded stacks; NULL: there is none */
};

static struct error *load_one(struct flame_loading *loading, const char *path, struct profile **ret)
{
	const unsigned unit = loading->arguments->unit;
	bool is_folded = false;
	struct error *err = input_profile(
		path, unit ? (enum folded_unit)(unit - 1) : FOLDED_SAMPLES, ret, &is_folded);

	if (is_folded)
		loading->folded = path;
	return err;
}

static void print_unit(const struct flame_loading *loading)
{
	if (loading->arguments->output.quiet)
		return;
	if (loading->folded && !loading->arguments->unit)
		fprintf(stderr,
			"ctprof: %s: folded stacks have no unit; assuming samples (use --unit ns "
			"for files of ctprof; or us, ms, s)\n",
			strcmp(loading->folded, "-") == 0 ? "standard input" : loading->folded);
	if (!loading->folded && loading->arguments->unit)
		fprintf(stderr, "ctprof: --unit has no effect: no file has folded stacks\n");
}

static struct error *load_all(struct flame_loading *loading, char **paths, int count,
			      struct profile **ret)
{
	_cleanup_(profile_destroy) struct profile *all = NULL;
	struct error *err = load_one(loading, paths[0], &all);

	for (int i = 1; !err && i < count; i++) {
		_cleanup_(profile_destroy) struct profile *one = NULL;

		err = load_one(loading, paths[i], &one);
		if (!err)
			err = profile_merge(all, one);
	}
	if (!err)
		*ret = take_ptr(all);
	return err;
}

static struct error *show_files(const struct flame_arguments *arguments, char **paths, int count)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	_cleanup_(profile_destroy) struct profile *baseline = NULL;
	struct flame_loading loading = { .arguments = arguments };
	struct error *err;

	if (arguments->diff) {
		err = load_one(&loading, paths[0], &baseline);
		if (!err)
			err = load_one(&loading, paths[1], &profile);
		if (!err)
			inputs_equalise_profiles((struct named_profile[]){ { paths[0], baseline },
									   { paths[1], profile } },
						 2, arguments->output.quiet ? NULL : stderr);
	} else {
		err = load_all(&loading, paths, count, &profile);
	}
	if (!err)
		print_unit(&loading);
	if (!err && !profile->samples.count && !arguments->output.quiet)
		fprintf(stderr, "ctprof: the profile is empty\n");
	return err ? err : profile_output_show(&arguments->output, profile, baseline, 0);
}

/* --- differences that are real --- */

struct flame_side_files {
	struct profile **items;
	size_t count;
};

static struct error *load_side(struct flame_loading *loading, char **paths, size_t count,
			       struct flame_side_files *ret)
{
	struct error *err = NULL;

	ret->items = calloc(count, sizeof(*ret->items));
	if (!ret->items)
		return &error_no_memory;
	while (!err && ret->count < count) {
		err = load_one(loading, paths[ret->count], &ret->items[ret->count]);
		ret->count += !err;
	}
	return err;
}

static void side_deinit(struct flame_side_files *side)
{
	for (size_t i = 0; i < side->count; i++)
		profile_destroy(side->items[i]);
	free(side->items);
}

/* The last file of `profile --interval` may be of less than an interval. */
#define LENGTHS_ALIKE 0.95

/* Totals are compared as they are, so a run that is shorter differs in everything. */
static void warn_of_length(const struct flame_side_files *side, char **paths)
{
	const size_t last = side->count - 1;
	const uint64_t length = side->items[last]->meta.duration_ns;
	uint64_t least = UINT64_MAX;
	char text[2][UNITS_TEXT_MAX];

	for (size_t i = 0; i < last; i++)
		if (side->items[i]->meta.duration_ns < least)
			least = side->items[i]->meta.duration_ns;
	if (last && (double)length < LENGTHS_ALIKE * (double)least)
		fprintf(stderr,
			"ctprof: %s: lasts %s, the files before it at least %s: leave it out, or "
			"it differs for that\n",
			paths[last], units_format(text[0], UNIT_NS, length),
			units_format(text[1], UNIT_NS, least));
}

static struct error *show_sides(const struct flame_arguments *arguments, char **paths, size_t count,
				size_t baselines)
{
	struct flame_loading loading = { .arguments = arguments };
	struct flame_side_files sides[2] = { 0 };
	struct error *err = load_side(&loading, paths, baselines, &sides[0]);

	if (!err)
		err = load_side(&loading, paths + baselines, count - baselines, &sides[1]);
	if (!err) {
		print_unit(&loading);
		if (!arguments->output.quiet) {
			warn_of_length(&sides[0], paths);
			warn_of_length(&sides[1], paths + baselines);
		}
		err = profile_output_show_sides(&arguments->output, sides[0].items, sides[0].count,
						sides[1].items, sides[1].count);
	}
	side_deinit(&sides[0]);
	side_deinit(&sides[1]);
	return err;
}

/* JSON has the verdicts. Both streams may go to one terminal. */
static void print_verdicts(const struct flame_arguments *arguments)
{
	const char *format = arguments->output.format;

	if (format && strcmp(format, profile_formats[PROFILE_FORMAT_JSON].name) == 0)
		return;
	fflush(stdout);
	for (size_t i = 0; i < arguments->gate.count; i++) {
		_cleanup_free_ char *line = flame_condition_text(&arguments->gate.items[i]);

		fprintf(stderr, "ctprof: %s\n", line ? line : "out of memory");
	}
}

static int compare_sides(struct flame_arguments *arguments, char **paths, size_t count,
			 size_t baselines)
{
	static const int statuses[] = { [FLAME_HOLDS] = STATUS_DONE,
					[FLAME_BROKEN] = STATUS_BROKEN,
					[FLAME_UNDECIDED] = STATUS_UNDECIDED };
	struct error *err;

	arguments->output.gate = &arguments->gate;
	err = show_sides(arguments, paths, count, baselines);
	if (err)
		return report_error(err, STATUS_FAILED);
	print_verdicts(arguments);
	return statuses[flame_gate_verdict(&arguments->gate)];
}

/* How many of the files are of the baseline. */
static size_t count_baselines(const struct flame_arguments *arguments, char **paths, size_t count)
{
	for (size_t i = 1; arguments->second && i < count; i++)
		if (paths[i] == arguments->second)
			return i;
	return 1;
}

/* Formats of whole profiles have no room for what is known of a difference. */
static struct error *check_format(const struct profile_output *output)
{
	const unsigned have = 1u << PROFILE_FORMAT_SVG | 1u << PROFILE_FORMAT_HTML |
			      1u << PROFILE_FORMAT_FOLDED | 1u << PROFILE_FORMAT_JSON;
	enum profile_format format;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < output->paths.count + 1; i++) {
		if (i == output->paths.count && !output->format)
			break;
		err = i < output->paths.count
			      ? profile_files_format(output, output->paths.items[i], &format)
			      : profile_format_named(output->format, &format);
		if (!err && !(have >> format & 1))
			err = error_create("--significant has no effect on the format %s: use svg, "
					   "html, folded or json",
					   profile_formats[format].name);
	}
	return err;
}

static struct error *check_significant(const struct flame_arguments *arguments, char **paths,
				       size_t count, size_t baselines)
{
	if (!arguments->diff)
		return error_create("%s requires --diff",
				    arguments->gate.count ? "--fail-if" : "--significant");
	if (count < 2 || (count > 2 && baselines == 1 && paths[1] != arguments->second))
		return error_create(
			"--diff --significant requires two files, or FILE... -- FILE...");
	if (arguments->output.tui)
		return error_create("--tui shows no difference of two files");
	/* A query is one profile of all hosts and times, which hides how far these are apart. */
	for (size_t i = 0; i < count; i++)
		if (input_is_query(paths[i]))
			return error_create(
				"%s requires files: for queries, use ctprof fleet compare or "
				"regressions --format json, and test what they find",
				arguments->gate.count ? "--fail-if" : "--significant");
	return check_format(&arguments->output);
}

/* The word after "--", which getopt passes over. */
static const char *word_after_dashes(int argc, char **argv)
{
	for (int i = 2; i + 1 < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return argv[i + 1];
	return NULL;
}

static struct error *check_diff(const struct flame_arguments *arguments, int count)
{
	if (arguments->diff && count != 2)
		return error_create("--diff requires two files");
	if (arguments->diff && arguments->output.tui)
		return error_create("--tui shows no difference of two files");
	return NULL;
}

static int run_files(const struct command *command, struct flame_arguments *arguments, char **paths,
		     int count)
{
	const bool significant = arguments->significant || arguments->gate.count;
	const size_t baselines = count_baselines(arguments, paths, (size_t)count);
	struct error *err = profile_output_settle(&arguments->output);

	if (!err && significant)
		err = check_significant(arguments, paths, (size_t)count, baselines);
	else if (!err)
		err = check_diff(arguments, count);
	if (err)
		return usage_error(command, err);
	if (significant)
		return compare_sides(arguments, paths, (size_t)count, baselines);
	if (count == 1 && strcmp(paths[0], "-") != 0)
		arguments->output.file = paths[0];
	err = show_files(arguments, paths, count);
	return err ? report_error(err, STATUS_FAILED) : STATUS_DONE;
}

static int run_flame(const struct command *command, int argc, char **argv)
{
	struct flame_arguments arguments = { .output = { .is_elsewhere = true },
					     .second = word_after_dashes(argc, argv) };
	int status, first = options_parse(command, argc, argv, &arguments, &status);

	if (first >= 0)
		status = run_files(command, &arguments, argv + first, argc - first);
	profile_output_deinit(&arguments.output);
	flame_gate_deinit(&arguments.gate);
	return status;
}

const struct command flame_command = {
	.name = "flame",
	.run = run_flame,
	.summary = "show, merge or compare saved profiles",
	.operands = "FILE...",
	.operands_least = 1,
	.operands_most = INT32_MAX,
	.needs = "",
	.examples = { "ctprof flame before.json",
		      "ctprof flame --diff before.json after.json -o change.svg",
		      "ctprof flame --diff --significant before.*.raw -- after.*.raw" },
	.options = flame_rows,
	.option_count = array_length(flame_rows),
};
