/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flame: saved profiles, shown in any form; several together, or two against each other.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cmd/inputs.h"
#include "cmd/profile_output.h"

struct flame_arguments {
	struct profile_output output;
	bool diff;
	unsigned unit; /* enum folded_unit and 1; 0: not said */
};

static struct error *parse_unit(const char *argument, void *at)
{
	const size_t number = option_value(argument, folded_unit_name);

	if (!folded_unit_name(number))
		return unknown_value("unit", argument, folded_unit_name);
	*(unsigned *)at = (unsigned)number + 1;
	return NULL;
}

static const struct option_row flame_rows[] = {
	{ "unit", 0, "UNIT", parse_unit, offsetof(struct flame_arguments, unit),
	  "The unit of the numbers in folded stacks, which these files do not state: samples (the "
	  "default), or times in ns, us, ms or s. ctprof writes ns.",
	  folded_unit_name, false },
	{ "diff", 0, NULL, parse_flag, offsetof(struct flame_arguments, diff),
	  "Show the difference between two files: the second minus the first.", NULL, false },
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
	} else {
		err = load_all(&loading, paths, count, &profile);
	}
	if (!err)
		print_unit(&loading);
	if (!err && !profile->samples.count && !arguments->output.quiet)
		fprintf(stderr, "ctprof: the profile is empty\n");
	return err ? err : profile_output_show(&arguments->output, profile, baseline, 0);
}

static int run_flame(const struct command *command, int argc, char **argv)
{
	struct flame_arguments arguments = { .output = { .is_elsewhere = true } };
	struct error *err;
	int status, first = options_parse(command, argc, argv, &arguments, &status);

	if (first >= 0) {
		err = profile_output_settle(&arguments.output);
		if (!err && arguments.diff && argc - first != 2)
			err = error_create("--diff requires two files");
		if (!err && arguments.diff && arguments.output.tui)
			err = error_create("--tui shows no difference of two files");
		if (err) {
			status = usage_error(command, err);
		} else {
			if (argc - first == 1 && strcmp(argv[first], "-") != 0)
				arguments.output.file = argv[first];
			err = show_files(&arguments, argv + first, argc - first);
			status = err ? report_error(err, STATUS_FAILED) : STATUS_DONE;
		}
	}
	profile_output_deinit(&arguments.output);
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
		      "ctprof flame --diff before.json after.json -o change.svg" },
	.options = flame_rows,
	.option_count = array_length(flame_rows),
};
