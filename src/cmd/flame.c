/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flame: saved profiles, shown in any form; several together, or two against each other.
 */
#include <stdio.h>

#include "cmd/commands.h"
#include "cmd/profile_output.h"
#include "stack/profile_file.h"

struct flame_arguments {
	struct profile_output output;
	bool diff;
};

static const struct option_row flame_rows[] = {
	{ "diff", 0, NULL, parse_flag, offsetof(struct flame_arguments, diff),
	  "Show what differs between two files, the second against the first.", NULL, false },
	PROFILE_OUTPUT_OPTIONS(flame_arguments),
};

static struct error *load_all(char **paths, int count, struct profile **ret)
{
	_cleanup_(profile_destroy) struct profile *all = NULL;
	struct error *err = profile_load(paths[0], &all);

	for (int i = 1; !err && i < count; i++) {
		_cleanup_(profile_destroy) struct profile *one = NULL;

		err = profile_load(paths[i], &one);
		if (!err)
			err = profile_merge(all, one);
	}
	if (!err)
		*ret = take_ptr(all);
	return err;
}

static struct error *show(const struct flame_arguments *arguments, char **paths, int count)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	_cleanup_(profile_destroy) struct profile *baseline = NULL;
	struct error *err;

	if (arguments->diff) {
		err = profile_load(paths[0], &baseline);
		if (!err)
			err = profile_load(paths[1], &profile);
	} else {
		err = load_all(paths, count, &profile);
	}
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
			err = error_create("--diff takes two files");
		if (err) {
			status = usage_error(command, err);
		} else {
			err = show(&arguments, argv + first, argc - first);
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
	.options = flame_rows,
	.option_count = array_length(flame_rows),
};
