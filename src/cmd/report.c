/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report: snapshots, profiles and metrics of kstats on one page of HTML.
 */
#include <stdio.h>
#include <string.h>

#include "base/outfile.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cmd/profile_output.h"
#include "cmd/report_inputs.h"
#include "report/html_report.h"
#include "report/kstats_page.h"
#include "report/markup.h"
#include "report/page.h"
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

struct report_page {
	const struct report_arguments *arguments;
	const struct report_inputs *inputs;
};

/* --- headings --- */

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Begin a section of the page. */
static struct error *print_heading(FILE *out, const char *before, const char *after)
{
	struct error *err = NULL;

	fputs("<section>\n<h2>", out);
	if (before) {
		err = markup_text(out, text_of(name_of(before)));
		fputs(" → ", out);
	}
	err = error_first(err, markup_text(out, text_of(name_of(after))));
	fputs("</h2>\n", out);
	return err;
}

/* The first input is compared with each of the others; a single one is shown by itself. */
static size_t pair_count(size_t inputs)
{
	return inputs > 1 ? inputs - 1 : inputs;
}

/* --- snapshots --- */

static struct error *print_snapshots(FILE *out, const struct report_page *page,
				     const struct side *sides, size_t count)
{
	struct display display = page->arguments->display;
	enum verdict verdict;
	struct error *err = display_settle(&display, count > 1 ? DISPLAY_TWO : DISPLAY_ONE);

	if (!err)
		err = print_heading(out, count > 1 ? sides[0].name : NULL, sides[count - 1].name);
	if (err)
		return err;
	if (count > 1)
		display_window_of_boot(&display, sides, count);
	else
		display_rank_by_cpu_time(&display);
	err = display_print_by(&display, html_report_part, out, sides, count - 1, count, &verdict);
	fputs("</section>\n", out);
	return err;
}

static struct error *print_all_snapshots(FILE *out, const struct report_page *page)
{
	const size_t count = page->inputs->snapshots.count;
	const struct side *all = page->inputs->snapshots.items;
	struct error *err = NULL;

	if (count == 1)
		return print_snapshots(out, page, all, 1);
	for (size_t i = 1; !err && i < count; i++)
		err = print_snapshots(out, page, (struct side[]){ all[0], all[i] }, 2);
	return err;
}

/* --- profiles --- */

static struct error *print_profiles(FILE *out, const struct report_page *page)
{
	const size_t count = page->inputs->profiles.count;
	const struct report_profile *all = page->inputs->profiles.items;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < pair_count(count); i++) {
		const struct report_profile *one = &all[count > 1 ? i + 1 : 0];
		const struct profile_output output = {
			.is_elsewhere = true,
			.quiet = page->arguments->quiet,
			.file = count > 1 ? NULL : one->path,
		};

		err = print_heading(out, count > 1 ? all[0].path : NULL, one->path);
		if (!err)
			err = profile_output_page(&output, one->profile,
						  count > 1 ? all[0].profile : NULL, out);
		fputs("</section>\n", out);
	}
	return err;
}

/* --- kstats --- */

/* The table of the first file with the same metric and unit as this one; NULL: there is none. */
static struct kstats_table *match_of(const struct kstats_tables *first,
				     const struct kstats_tables *own,
				     const struct kstats_table *table)
{
	struct kstats_table *match = first->count == 1 && own->count == 1
					     ? first->items[0]
					     : kstats_tables_match(first, own, table);

	return match && strcmp(match->unit, table->unit) == 0 ? match : NULL;
}

static struct error *print_metric(FILE *out, struct kstats_table *before,
				  struct kstats_table *after)
{
	struct error *err = NULL;

	if (before && before->frac_bits > after->frac_bits)
		err = kstats_table_coarsen(before, after->frac_bits);
	else if (before)
		err = kstats_table_coarsen(after, before->frac_bits);
	return err ? err : kstats_page_print(out, before, after);
}

static struct error *print_metrics(FILE *out, const struct report_kstats *before,
				   const struct report_kstats *after)
{
	struct error *err = print_heading(out, before ? before->path : NULL, after->path);

	for (size_t i = 0; !err && i < after->tables.count; i++) {
		struct kstats_table *table = after->tables.items[i];

		err = print_metric(out,
				   before ? match_of(&before->tables, &after->tables, table) : NULL,
				   table);
	}
	fputs("</section>\n", out);
	return err;
}

/* Print a heat map of a metric over all files; nothing unless each of them has the metric. */
static struct error *print_heat(FILE *out, const struct report_inputs *inputs,
				const struct kstats_table *table)
{
	const size_t count = inputs->kstats.count;
	const struct report_kstats *all = inputs->kstats.items;
	_cleanup_free_ const struct kstats_table **readings = calloc(count, sizeof(*readings));

	if (!readings)
		return &error_no_memory;
	readings[0] = table;
	for (size_t i = 1; i < count; i++) {
		readings[i] = match_of(&all[i].tables, &all[0].tables, table);
		if (!readings[i])
			return NULL;
	}
	return kstats_page_heat(out, readings, count);
}

static struct error *print_kstats(FILE *out, const struct report_page *page)
{
	const size_t count = page->inputs->kstats.count;
	const struct report_kstats *all = page->inputs->kstats.items;
	struct error *err = NULL;

	/* Comparing tables, below, may make them coarser: draw the heat map first. */
	if (count > 2) {
		fputs("<section>\n<h2>Values over time</h2>\n", out);
		for (size_t i = 0; !err && i < all[0].tables.count; i++)
			err = print_heat(out, page->inputs, all[0].tables.items[i]);
		fputs("</section>\n", out);
	}
	for (size_t i = 0; !err && i < pair_count(count); i++)
		err = count > 1 ? print_metrics(out, &all[0], &all[i + 1])
				: print_metrics(out, NULL, &all[0]);
	return err;
}

/* --- the page --- */

static struct error *print_body(FILE *out, const void *context)
{
	const struct report_page *page = context;
	struct error *err = print_all_snapshots(out, page);

	if (!err)
		err = print_profiles(out, page);
	return err ? err : print_kstats(out, page);
}

static char *title_of(const struct report_arguments *arguments, char **paths, int count)
{
	if (arguments->title)
		return strdup(arguments->title);
	if (count > 2)
		return text_print("%s and %d more files", name_of(paths[0]), count - 1);
	return count > 1 ? text_print("%s, %s", name_of(paths[0]), name_of(paths[1]))
			 : strdup(name_of(paths[0]));
}

static struct error *write_page(const struct html_page *page, const char *path)
{
	struct outfile file;
	struct stream stream;
	struct error *err = outfile_open(&file, path);

	if (!err)
		err = stream_open(&stream, outfile_write, &file);
	if (!err) {
		err = page_print(stream.out, page);
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
	_cleanup_free_ char *title = title_of(arguments, paths, count);
	struct report_inputs inputs = { 0 };
	const struct report_page context = { arguments, &inputs };
	struct html_page page = { .title = title, .body = print_body, .context = &context };
	struct error *err = title ? outfile_check(output) : &error_no_memory;

	if (!err)
		err = report_inputs_load(&inputs, paths, (size_t)count);
	page.has_flames = inputs.profiles.count > 0;
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
