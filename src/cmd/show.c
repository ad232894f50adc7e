/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "cmd/commands.h"
#include "cmd/display.h"
#include "ctprof/snapshot.h"

DEFINE_CLEANUP(ctprof_snapshot_close, struct ctprof_snapshot *)

static const struct option_row show_options[] = {
	DISPLAY_OPTIONS(parse_show_columns, show_column_name, parse_show_sort, show_sort_name,
			SORT_GROUPS_HELP),
};

static int show(const char *path, const struct display *display)
{
	_cleanup_(ctprof_snapshot_close) struct ctprof_snapshot *snapshot = NULL;
	struct ctprof_error error;

	if (ctprof_snapshot_open(path, &snapshot, &error))
		return report_error(error_create("%s", error.message), STATUS_FAILED);
	print_remarks(path, snapshot);
	return display_print(display, &(struct side){ snapshot, path }, 0, 1);
}

static int run_show(const struct command *command, int argc, char **argv)
{
	struct display display;
	struct error *err;
	int status, first;

	display_init(&display);
	first = options_parse(command, argc, argv, &display, &status);
	if (first >= 0) {
		err = display_settle(&display, DISPLAY_ONE);
		status = err ? usage_error(command, err) : show(argv[first], &display);
	}
	display_deinit(&display);
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
