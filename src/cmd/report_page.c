/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/report_page.h"

#include <string.h>

#include "cmd/profile_output.h"
#include "report/html_report.h"
#include "report/kstats_page.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/stream.h"

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
	struct display display = *page->display;
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
	const struct named_profile *all = page->inputs->profiles.items;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < pair_count(count); i++) {
		const struct named_profile *one = &all[count > 1 ? i + 1 : 0];
		const struct profile_output output = {
			.is_elsewhere = true,
			.reads_nothing = page->reads_nothing,
			.quiet = page->quiet,
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

/* The table in the first file with the metric and unit of `table`, which is in `own`; NULL: none.
 */
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

/* Print a heat map of a metric over all files. Print nothing if a file lacks the metric. */
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

struct error *report_page_print(FILE *out, const struct report_page *page)
{
	return page_print(out, &(struct html_page){
				       .title = page->title,
				       .body = print_body,
				       .context = page,
				       .has_flames = page->inputs->profiles.count > 0,
			       });
}

char *report_page_title(const char *first, const char *second, size_t count)
{
	if (count > 2)
		return text_print("%s and %zu more files", name_of(first), count - 1);
	return count > 1 ? text_print("%s, %s", name_of(first), name_of(second))
			 : strdup(name_of(first));
}

static struct error *print_files(FILE *out, const struct display *display,
				 const struct named_file *files, size_t count)
{
	_cleanup_free_ char *title =
		report_page_title(files[0].name, count > 1 ? files[1].name : NULL, count);
	struct report_inputs inputs = { 0 };
	const struct report_page page = { .display = display,
					  .inputs = &inputs,
					  .title = title,
					  .quiet = true,
					  .reads_nothing = true };
	struct error *err =
		title ? report_inputs_load_files(&inputs, files, count) : &error_no_memory;

	if (!err)
		err = report_page_print(out, &page);
	report_inputs_deinit(&inputs);
	return err;
}

struct error *report_page_print_files(FILE *out, const struct named_file *files, size_t count)
{
	struct display display = { 0 };
	struct error *err;

	display_init(&display);
	display.format = REPORT_HTML;
	err = print_files(out, &display, files, count);
	display_deinit(&display);
	return err;
}
