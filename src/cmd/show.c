/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "cmd/commands.h"
#include "cmd/display.h"
#include "ctprof/snapshot.h"

DEFINE_CLEANUP(ctprof_snapshot_close, struct ctprof_snapshot *)

static const struct option_row show_options[] = {
	DISPLAY_OPTIONS(parse_show_columns, show_column_name),
};

static int show(const char *path, const struct report_options *options)
{
	_cleanup_(ctprof_snapshot_close) struct ctprof_snapshot *snapshot = NULL;
	struct ctprof_error error;
	struct error *err;

	if (ctprof_snapshot_open(path, &snapshot, &error))
		return report_error(error_create("%s", error.message), STATUS_FAILED);
	print_remarks(path, snapshot);
	err = report_show(stdout, (struct report_side){ snapshot, path }, options);
	return err ? report_error(err, STATUS_FAILED) : STATUS_DONE;
}

static int run_show(const struct command *command, int argc, char **argv)
{
	struct report_options options = display_defaults();
	int status, first = options_parse(command, argc, argv, &options, &status);

	if (first >= 0)
		status = show(argv[first], &options);
	report_options_deinit(&options);
	return status;
}

const struct command show_command = {
	.name = "show",
	.run = run_show,
	.summary = "print a snapshot",
	.operands = "SNAPSHOT",
	.operands_least = 1,
	.operands_most = 1,
	.needs = "",
	.options = show_options,
	.option_count = array_length(show_options),
};
