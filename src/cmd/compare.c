/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/display.h"
#include "snapshot/file.h"

static const struct option_row compare_options[] = {
	DISPLAY_OPTIONS(parse_compare_columns, compare_column_name),
};

static int run_compare(const struct command *command, int argc, char **argv)
{
	struct report_options options = display_defaults();
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *baseline = NULL;
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *candidate = NULL;
	struct error *err;
	int status, first = options_parse(command, argc, argv, &options, &status);

	if (first < 0)
		return status;
	if (strcmp(argv[first], "-") == 0 && strcmp(argv[first + 1], "-") == 0)
		return report_error(error_create("only one of the two can be standard input"),
				    STATUS_USAGE);
	err = snapshot_load(argv[first], &baseline);
	if (!err)
		err = snapshot_load(argv[first + 1], &candidate);
	if (err)
		return report_error(err, STATUS_FAILED);
	print_remarks(argv[first], baseline);
	print_remarks(argv[first + 1], candidate);
	err = report_compare(stdout, (struct report_side){ baseline, argv[first] },
			     (struct report_side){ candidate, argv[first + 1] }, &options);
	return err ? report_error(err, STATUS_FAILED) : STATUS_DONE;
}

const struct command compare_command = {
	.name = "compare",
	.run = run_compare,
	.summary = "print what changed between two snapshots",
	.operands = "BASELINE CANDIDATE",
	.operand_count = 2,
	.needs = "",
	.options = compare_options,
	.option_count = array_length(compare_options),
};
