/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/display.h"
#include "snapshot/file.h"

static const struct option_row compare_options[] = {
	DISPLAY_OPTIONS(parse_compare_columns, compare_column_name),
};

static struct error *compare(const char *before, const char *after,
			     const struct report_options *options)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *baseline = NULL;
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *candidate = NULL;
	struct error *err = snapshot_load(before, &baseline);

	if (!err)
		err = snapshot_load(after, &candidate);
	if (err)
		return err;
	print_remarks(before, baseline);
	print_remarks(after, candidate);
	return report_compare(stdout, (struct report_side){ baseline, before },
			      (struct report_side){ candidate, after }, options);
}

static int run_compare(const struct command *command, int argc, char **argv)
{
	struct report_options options = display_defaults();
	struct error *err;
	int status, first = options_parse(command, argc, argv, &options, &status);

	if (first >= 0 && strcmp(argv[first], "-") == 0 && strcmp(argv[first + 1], "-") == 0) {
		status = report_error(error_create("only one of the two can be standard input"),
				      STATUS_USAGE);
	} else if (first >= 0) {
		err = compare(argv[first], argv[first + 1], &options);
		status = err ? report_error(err, STATUS_FAILED) : STATUS_DONE;
	}
	report_options_deinit(&options);
	return status;
}

const struct command compare_command = {
	.name = "compare",
	.run = run_compare,
	.summary = "print what changed between two snapshots",
	.operands = "BASELINE CANDIDATE",
	.operands_least = 2,
	.operands_most = 2,
	.needs = "",
	.options = compare_options,
	.option_count = array_length(compare_options),
};
