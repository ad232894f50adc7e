/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report: snapshots, profiles and metrics of kstats on one page of HTML.
 */
#include <stdio.h>
#include <string.h>

#include "base/outfile.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cmd/report_page.h"
#include "report/stream.h"

#define USUAL_OUTPUT "ctprof-report.html"

struct report_arguments {
	struct display display; /* must be first: DISPLAY_OPTIONS use its offset */
	const char *output, *title;
	bool quiet;
};

#define AT(member) offsetof(struct report_arguments, member)

/* clang-format off */
static const struct option_row report_options[] = {
	{ "output", 'o', "FILE", parse_string, AT(output),
	  "Write the page to FILE (default " USUAL_OUTPUT "); - is standard output.", NULL, OPTION_COMMON },
	{ "title", 0, "TEXT", parse_string, AT(title),
	  "The title of the page (default: the names of the files).", NULL, OPTION_COMMON },
	{ "group-by", 0, "AXIS", parse_axis, 0,
	  "Group threads by AXIS (default pcomm, the process name).", axis_name, OPTION_COMMON },
	{ "filter", 'f', "TERMS", parse_thread_filter, DISPLAY_AT(view.keys.filter),
	  "Select threads of snapshots before they are grouped, as ctprof show --filter does.", NULL,
	  OPTION_COMMON },
	{ "match", 0, "GLOB", parse_pattern, DISPLAY_AT(view.match),
	  "Show only groups whose name matches the glob (* ? and [...] as in the shell). May be "
	  "given more than once; any may match.", NULL, false },
	{ "lifetime", 0, NULL, parse_flag, DISPLAY_AT(lifetime),
	  "Compare totals since each thread began, rather than what happened between two snapshots of "
	  "one boot.", NULL, false },
	{ "limit", 0, "N", parse_limit, 0,
	  "Show at most N rows in each block, or N groups of one snapshot (default 500; 0 is all).", NULL,
	  false },
	{ "all", 0, NULL, parse_all, 0,
	  "Show every row: the same as --limit 0.", NULL, OPTION_COMMON },
	{ "quiet", 'q', NULL, parse_flag, AT(quiet),
	  "Print only errors on standard error.", NULL, false },
};
/* clang-format on */

static struct error *write_page(const struct report_page *page, const char *path)
{
	struct outfile file;
	struct stream stream;
	struct error *err = outfile_open(&file, path);

	if (!err)
		err = stream_open(&stream, outfile_write, &file);
	if (!err) {
		err = report_page_print(stream.out, page);
		err = error_first(err, stream_close(&stream));
	}
	if (!err)
		err = outfile_commit(&file);
	outfile_close(&file);
	return err;
}

static struct error *make_report(const struct report_arguments *arguments, char **paths, int count)
{
	const char *output = arguments->output ? arguments->output : USUAL_OUTPUT;
	_cleanup_free_ char *title = arguments->title
					     ? strdup(arguments->title)
					     : report_page_title(paths[0], paths[1], (size_t)count);
	struct report_inputs inputs = { 0 };
	const struct report_page page = { .display = &arguments->display,
					  .inputs = &inputs,
					  .title = title,
					  .quiet = arguments->quiet };
	struct error *err = title ? outfile_check(output) : &error_no_memory;

	if (!err)
		err = report_inputs_load(&inputs, paths, (size_t)count);
	if (!err)
		err = write_page(&page, output);
	report_inputs_deinit(&inputs);
	if (!err && !arguments->quiet && strcmp(output, "-") != 0)
		fprintf(stderr, "ctprof: wrote %s: open it in a browser\n", output);
	return err;
}

static int run_report(const struct command *command, int argc, char **argv)
{
	struct report_arguments arguments = { 0 };
	struct error *err;
	int status, first;

	display_init(&arguments.display);
	arguments.display.format = REPORT_HTML;
	first = options_parse(command, argc, argv, &arguments, &status);
	if (first >= 0) {
		err = make_report(&arguments, argv + first, argc - first);
		status = err ? report_error(err, STATUS_FAILED) : STATUS_DONE;
	}
	display_deinit(&arguments.display);
	return status;
}

const struct command report_command = {
	.name = "report",
	.run = run_report,
	.summary = "write snapshots, profiles and metrics as one page of HTML",
	.operands = "FILE...",
	.operands_least = 1,
	.operands_most = INT32_MAX,
	.needs = "",
	.examples = { "ctprof report before.ctprof.zst after.ctprof.zst -o change.html",
		      "ctprof report after.ctprof.zst offcpu.raw reads.kstats",
		      "ctprof report recording/" },
	.options = report_options,
	.option_count = array_length(report_options),
};
