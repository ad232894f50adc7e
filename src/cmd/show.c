/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cmd/inputs.h"
#include "snapshot/recording.h"
#include "snapshot/timestamp.h"

struct show_arguments {
	struct display display; /* first: the options of display know its place */
	bool list;
};

static const struct option_row show_options[] = {
	DISPLAY_OPTIONS(parse_show_columns, show_column_name, parse_show_sort, show_sort_name,
			SORT_GROUPS_HELP, LIMIT_GROUPS_HELP, ALL_ROWS_SHOW_HELP),
	{ "list", 0, NULL, parse_flag, offsetof(struct show_arguments, list),
	  "List the captures of a recording: their times and sizes.", NULL, false },
};

/* The name of the capture that was picked stands in the report. */
static int show_snapshot(const char *name, const struct display *display)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	_cleanup_free_ char *path = NULL;
	struct error *err = input_snapshot(name, &display->view, &snapshot, &path);

	if (err)
		return report_error(err, STATUS_FAILED);
	print_remarks(path, snapshot);
	return display_print(display, &(struct side){ snapshot, path }, 0, 1);
}

static int list_captures(const char *path)
{
	struct recording recording;
	struct error *err = recording_open(path, &recording);

	if (err)
		return report_error(err, STATUS_FAILED);
	err = recording_put_in_order(&recording);
	if (err) {
		recording_close(&recording);
		return report_error(err, STATUS_FAILED);
	}
	for (size_t i = 0; i < recording.captures.count; i++) {
		const struct capture_kept *capture = &recording.captures.items[i];
		char time[TIMESTAMP_TEXT_SIZE], size[UNITS_TEXT_MAX];

		timestamp_print(time, capture->at_ms);
		printf("%s  %s\n", time, units_format(size, UNIT_BYTES, (__int128)capture->size));
	}
	recording_close(&recording);
	return STATUS_DONE;
}

static struct error *settle(struct show_arguments *arguments, int count, char **operands)
{
	struct display *display = &arguments->display;
	struct error *err = count > 1 ? parse_pattern(operands[1], &display->view.match) : NULL;

	if (!err && count > 1 && arguments->list)
		err = error_create("--list takes a recording alone");
	if (!err)
		err = display_settle(display, DISPLAY_ONE);
	display_rank_by_cpu_time(display);
	return err;
}

static int run_show(const struct command *command, int argc, char **argv)
{
	struct show_arguments arguments = { 0 };
	struct error *err;
	int status, first;

	display_init(&arguments.display);
	first = options_parse(command, argc, argv, &arguments, &status);
	if (first >= 0) {
		err = settle(&arguments, argc - first, argv + first);
		if (err)
			status = usage_error(command, err);
		else
			status = arguments.list ? list_captures(argv[first])
						: show_snapshot(argv[first], &arguments.display);
	}
	display_deinit(&arguments.display);
	return status;
}

const struct command show_command = {
	.name = "show",
	.run = run_show,
	.summary = "print a snapshot",
	.operands = "SNAPSHOT [GROUP]",
	.operands_least = 1,
	.operands_most = 2,
	.needs = "",
	.examples = { "ctprof show after.ctprof.zst",
		      "ctprof show 'ch://store/ctprof?host=web-*&from=-1h'",
		      "ctprof show after.ctprof.zst --match 'nginx*' --group-by thread" },
	.options = show_options,
	.option_count = array_length(show_options),
};
