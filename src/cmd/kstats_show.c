/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: showing metrics, once or over time, judging and comparing them.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grid.h"
#include "base/interrupts.h"
#include "base/json_writer.h"
#include "base/outfile.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cmd/kstats.h"
#include "kstats/slo.h"
#include "kstats/v3.h"
#include "report/kstats_heat.h"
#include "report/kstats_report.h"
#include "report/kstats_values.h"
#include "report/openmetrics.h"
#include "report/stream.h"
#include "report/visible.h"

/* Lines of a histogram if the height of the terminal is unknown. */
#define LINES_DEFAULT 24
/* Lines around a histogram on a screen: heading, percentiles, the prompt. */
#define LINES_BESIDE 14
#define LINES_LEAST  8

static struct kstats_style style_of(const struct kstats_showing *showing)
{
	struct kstats_style style = {
		.utf8 = terminal_is_utf8(),
		.rows = showing->rows,
		.all_rows = showing->all_rows,
		.lines = LINES_DEFAULT,
		.width = terminal_table_width(),
	};
	const unsigned lines = terminal_size().ws_row;

	if (lines)
		style.lines =
			lines > LINES_BESIDE + LINES_LEAST ? lines - LINES_BESIDE : LINES_LEAST;
	if (showing->all_buckets)
		style.lines = 0;
	return style;
}

/* --- once --- */

static struct error *show_text(const struct kstats_showing *showing,
			       const struct kstats_tables *tables)
{
	const struct kstats_style style = style_of(showing);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < tables->count; i++) {
		if (i)
			putchar('\n');
		err = kstats_report_text(stdout, tables->items[i], &style);
	}
	return err;
}

static struct error *show_v3(const struct kstats_showing *showing,
			     const struct kstats_tables *tables)
{
	(void)showing;
	for (size_t i = 0; i < tables->count; i++)
		kstats_v3_print(tables->items[i], stdout);
	return NULL;
}

static struct error *show_json(const struct kstats_showing *showing,
			       const struct kstats_tables *tables)
{
	struct json_writer writer;
	struct error *err = json_writer_init(&writer, stream_to_file, stdout);

	(void)showing;
	if (err)
		return err;
	kstats_file_write(&writer, tables);
	err = json_writer_finish(&writer);
	json_writer_deinit(&writer);
	putchar('\n');
	return err;
}

static struct error *show_csv(const struct kstats_showing *showing,
			      const struct kstats_tables *tables)
{
	struct error *err = NULL;

	/* With intervals, there is a line before the first. */
	if (!showing->interval_ns)
		err = kstats_report_csv_heading(stdout, false);
	for (size_t i = 0; !err && i < tables->count; i++)
		err = kstats_report_csv(stdout, tables->items[i]);
	return err;
}

static struct error *show_openmetrics(const struct kstats_showing *showing,
				      const struct kstats_tables *tables)
{
	return openmetrics_print(stdout, tables, showing->rows);
}

static struct error *(*const forms[KSTATS_FORMAT_COUNT])(const struct kstats_showing *showing,
							 const struct kstats_tables *tables) = {
#define FORMAT(id, name, show) [KSTATS_FORMAT_##id] = show,
	KSTATS_FORMATS(FORMAT)
#undef FORMAT
};

/* --- objectives --- */

const struct kstats_verdict_row kstats_verdicts[] = {
	[KSTATS_KEPT] = { STATUS_DONE, "kept" },
	[KSTATS_BROKEN] = { STATUS_BROKEN, "broken" },
	[KSTATS_UNDECIDED] = { STATUS_UNDECIDED, "undecided" },
};

void kstats_count_verdict(enum kstats_verdict verdict, int *status)
{
	if (*status != STATUS_BROKEN && kstats_verdicts[verdict].status != STATUS_DONE)
		*status = kstats_verdicts[verdict].status;
}

/* The largest numbers of doubles are one more than a counter holds. */
static void format_number(char *buffer, double value)
{
	units_grouped(buffer, value < 0x1p64 ? (__int128)value : UINT64_MAX, "");
}

static void print_verdict(const struct kstats_table *table, const char *objective,
			  const struct kstats_slo *slo, const struct kstats_measured *measured,
			  const char *prose, bool is_nothing)
{
	const bool is_number = kstats_aspect_is_number(&slo->aspect);
	_cleanup_free_ char *title = kstats_table_title(table);
	_cleanup_free_ char *visible = title ? text_visible(text_of(title)) : NULL;
	char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];

	if (is_nothing) {
		fprintf(stderr, "ctprof: %s: %s: %s (nothing was recorded)\n",
			visible ? visible : "?", objective, prose);
		return;
	}
	if (is_number) {
		format_number(low, measured->low);
		/* Losses that are not counted may be any number. */
		if (isinf(measured->high))
			snprintf(high, sizeof(high), "?");
		else
			format_number(high, measured->high);
	} else {
		kstats_format(low, table, measured->low);
		kstats_format(high, table, measured->high);
	}
	fprintf(stderr, "ctprof: %s: %s: %s (%s%s%s)\n", visible ? visible : "?", objective, prose,
		low, strcmp(low, high) ? ".." : "", strcmp(low, high) ? high : "");
}

static struct error *judge(const char *objective, const struct kstats_table *table, int *status)
{
	struct kstats_distribution all = { 0 };
	struct kstats_measured measured;
	enum kstats_verdict verdict;
	struct kstats_slo slo;
	struct error *err = kstats_slo_parse(text_of(objective), &slo);

	if (!err)
		err = kstats_distribution_of(table, NULL, &all);
	if (err)
		return err;
	verdict = kstats_slo_judge(&slo, table, &all, &measured);
	/* Losses are known or not, whatever was recorded. */
	print_verdict(table, objective, &slo, &measured, kstats_verdicts[verdict].prose,
		      verdict == KSTATS_UNDECIDED && !all.count &&
			      slo.aspect.quantity != KSTATS_QUANTITY_LOST);
	kstats_count_verdict(verdict, status);
	kstats_distribution_clear(&all);
	return NULL;
}

static struct error *judge_all(const struct kstats_showing *showing,
			       const struct kstats_tables *tables, int *status)
{
	struct error *err = NULL;

	for (size_t i = 0; i < showing->objectives.count; i++)
		for (size_t t = 0; !err && t < tables->count; t++)
			err = judge(showing->objectives.items[i], tables->items[t], status);
	return err;
}

struct error *kstats_check_objectives(const struct kstats_showing *showing)
{
	struct kstats_slo slo;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < showing->objectives.count; i++)
		err = kstats_slo_parse(text_of(showing->objectives.items[i]), &slo);
	return err ? error_prefix(err, "--slo") : NULL;
}

/* --- over time --- */

/* Columns of a line before the ranges and after them, and of a line where no terminal says. */
#define WIDTH_BESIDE_AXIS 48
#define WIDTH_DEFAULT     100

/* A heading again after so many lines: about a screen. */
#define HEADING_EACH 20

struct kstats_series {
	const struct kstats_showing *showing;
	struct kstats_table *before;
	struct kstats_heat heat; /* only where a picture is wanted */
	struct kstats_heat_axis axis;
	uint64_t last_ns, due_ns;
	size_t done;
	int *status;
};

/* From the smallest to the largest value that the metric has so far, or has after the first
 * interval. It grows when a value is beyond it. */
static struct error *set_axis(struct kstats_series *s)
{
	const unsigned columns = terminal_size().ws_col;
	const unsigned width = columns ? columns : WIDTH_DEFAULT;
	_cleanup_(kstats_distribution_clear) struct kstats_distribution all = { 0 };
	struct error *err = kstats_distribution_of(s->before, NULL, &all);

	s->axis = (struct kstats_heat_axis){
		.low = UINT64_MAX,
		.columns = width > WIDTH_BESIDE_AXIS + 8 ? width - WIDTH_BESIDE_AXIS : 8,
		.utf8 = terminal_is_utf8(),
		.has_fractions = s->showing->interval_ns < NS_PER_S,
		.colour = terminal_wants_colour(),
	};
	if (!err)
		kstats_heat_see(&s->axis, &all);
	return err;
}

static struct error *show_interval(struct kstats_series *s, struct kstats_table *now)
{
	struct kstats_tables one = { .items = &now, .count = 1, .room = 1 };
	struct kstats_heat_line line = { 0 };
	struct error *err;

	now->window_ns = clock_ns(CLOCK_MONOTONIC) - s->last_ns;
	if (s->showing->format != KSTATS_FORMAT_TEXT)
		return forms[s->showing->format](s->showing, &one);
	err = kstats_distribution_of(now, NULL, &line.values);
	if (err)
		return err;
	line.at_ns = clock_ns(CLOCK_REALTIME);
	line.length_ns = now->window_ns;
	if (kstats_heat_see(&s->axis, &line.values) || s->done % HEADING_EACH == 0)
		kstats_heat_heading(stdout, now, &s->axis);
	kstats_heat_line(stdout, now, &s->axis, &line);
	if (s->showing->heat && array_push(&s->heat, line))
		return NULL;
	kstats_distribution_clear(&line.values);
	return s->showing->heat ? &error_no_memory : NULL;
}

/* Show the values recorded since the last reading. A metric that was reset meanwhile starts again.
 */
static struct error *show_next(struct kstats_series *s, const struct kstats_search *search,
			       const char *name)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *now = NULL;
	_cleanup_(kstats_table_destroy) struct kstats_table *kept = NULL;
	const struct kstats_tables one = { .items = &now, .count = 1, .room = 1 };
	struct error *err = kstats_read(search, name, &now);

	if (!err)
		err = kstats_table_copy_rows(now, &kept);
	if (err)
		return err;
	err = kstats_table_subtract(now, s->before);
	if (err) {
		fprintf(stderr, "ctprof: %s\n", err->message);
		error_destroy(err);
		err = NULL;
	} else {
		err = show_interval(s, now);
		/* Verdicts stand below what they judge. */
		fflush(stdout);
		if (!err)
			err = judge_all(s->showing, &one, s->status);
	}
	kstats_table_destroy(s->before);
	s->before = take_ptr(kept);
	s->last_ns = clock_ns(CLOCK_MONOTONIC);
	s->done++;
	return err;
}

/* Returns false if a signal asks to end. */
static bool wait_for_interval(uint64_t end_ns, const sigset_t *ends)
{
	uint64_t now;

	while ((now = clock_ns(CLOCK_MONOTONIC)) < end_ns) {
		const struct timespec left = clock_timespec(end_ns - now);

		if (sigtimedwait(ends, NULL, &left) > 0)
			return false;
	}
	return true;
}

static struct error *save_heat(const char *path, const struct kstats_table *table,
			       const struct kstats_heat *heat)
{
	struct outfile file;
	struct stream stream;
	struct error *err = outfile_open(&file, path);

	if (!err)
		err = stream_open(&stream, outfile_write, &file);
	if (!err) {
		err = kstats_heat_svg(stream.out, table, heat);
		err = error_first(err, stream_close(&stream));
	}
	if (!err)
		err = outfile_commit(&file);
	outfile_close(&file);
	return err;
}

static struct error *follow_metric(struct kstats_series *s, const struct kstats_search *search,
				   const char *name)
{
	sigset_t ends, before;
	struct error *err = kstats_read(search, name, &s->before);

	if (err)
		return err;
	sigemptyset(&ends);
	interrupts_add(&ends, SIGINT);
	interrupts_add(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, &before);
	s->last_ns = clock_ns(CLOCK_MONOTONIC);
	s->due_ns = s->last_ns + s->showing->interval_ns;
	err = set_axis(s);
	if (!err && s->showing->format == KSTATS_FORMAT_CSV)
		err = kstats_report_csv_heading(stdout, true);
	fflush(stdout);
	while (!err && (!s->showing->count || s->done < s->showing->count) &&
	       wait_for_interval(s->due_ns, &ends)) {
		err = show_next(s, search, name);
		s->due_ns = grid_next(s->due_ns, s->showing->interval_ns, s->last_ns,
				      clock_ns(CLOCK_MONOTONIC));
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	/* A metric that went away was there before. */
	if (s->showing->heat)
		err = error_first(err, save_heat(s->showing->heat, s->before, &s->heat));
	return err;
}

static struct error *show_series(const struct kstats_showing *showing,
				 const struct kstats_search *search, char **words, int *status)
{
	struct kstats_series series = { .showing = showing, .status = status };
	struct error *err;

	if (words[1] || kstats_is_file(words[0]))
		return error_create("--interval requires one metric that is being recorded, not a "
				    "file");
	err = follow_metric(&series, search, words[0]);
	kstats_table_destroy(series.before);
	kstats_heat_clear(&series.heat);
	return err;
}

struct error *kstats_show_tables(const struct kstats_showing *showing,
				 const struct kstats_tables *tables, int *status)
{
	struct error *err = forms[showing->format](showing, tables);

	/* Verdicts stand below what they judge. */
	fflush(stdout);
	return err ? err : judge_all(showing, tables, status);
}

struct error *kstats_show(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	const struct kstats_showing *showing = &arguments->showing;
	const struct kstats_search search = kstats_search(arguments->via);
	struct kstats_tables tables = { 0 };
	struct error *err = kstats_check_objectives(showing);

	if (err) {
		*ret_status = STATUS_USAGE;
		return err;
	}
	if (showing->interval_ns)
		return show_series(showing, &search, words, ret_status);
	kstats_gather_each(&search, words, &tables, ret_status);
	if (!tables.count && *ret_status)
		return NULL;
	pager_begin(showing->format == KSTATS_FORMAT_TEXT ? PAGER_TEXT : PAGER_DATA);
	err = kstats_show_tables(showing, &tables, ret_status);
	kstats_tables_clear(&tables);
	return err;
}
