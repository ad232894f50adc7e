/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/kstats_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "histogram/histogram.h"
#include "report/kstats_heat.h"
#include "report/kstats_report.h"
#include "report/kstats_shift_report.h"
#include "report/kstats_values.h"
#include "report/markup.h"

/* --- histograms --- */

#define WIDTH       920
#define PLOT_WIDTH  860
#define PLOT_HEIGHT 170
#define LEFT        50
#define TOP         18
#define BELOW       34
/* Columns are slots. If there would be more columns than this, they get coarser, down to one for
 * each power of two. */
#define COLUMNS_MOST 96
/* Distance of labels on the axis, in pixels. */
#define LABEL_WIDTH 110

struct histogram_side {
	struct kstats_distribution values;
	uint64_t *counts; /* of each column */
};

struct plot {
	const struct kstats_table *table;
	struct histogram_side before, after; /* `before` is empty unless two tables are compared */
	unsigned bits, first, count;         /* of each column */
	double most;                         /* the largest share of values in a column */
};

static void plot_guard(struct plot *plot)
{
	kstats_distribution_clear(&plot->before.values);
	kstats_distribution_clear(&plot->after.values);
	free(plot->before.counts);
	free(plot->after.counts);
}

static void see_bounds(const struct histogram_side *side, uint64_t *low, uint64_t *high)
{
	uint64_t least, largest;

	if (!side->values.count)
		return;
	least = kstats_percentile(&side->values, 0).low;
	largest = kstats_percentile(&side->values, 1).high;
	*low = *low < least ? *low : least;
	*high = *high > largest ? *high : largest;
}

static void choose_columns(struct plot *plot, uint64_t low, uint64_t high)
{
	for (plot->bits = plot->after.values.frac_bits;; plot->bits--) {
		plot->first = (unsigned)bucket_slot(low, plot->bits);
		plot->count = (unsigned)bucket_slot(high, plot->bits) - plot->first + 1;
		if (plot->count <= COLUMNS_MOST || !plot->bits)
			return;
	}
}

static bool fold(struct plot *plot, struct histogram_side *side)
{
	const struct kstats_distribution *values = &side->values;

	if (!values->count)
		return true;
	side->counts = calloc(plot->count, sizeof(*side->counts));
	if (!side->counts)
		return false;
	for (unsigned slot = 0; slot < BUCKET_SLOTS(values->frac_bits); slot++) {
		const uint64_t low = bucket_low(slot, values->frac_bits);
		unsigned column;

		if (!values->slots[slot].count)
			continue;
		column = (unsigned)bucket_slot(low, plot->bits) - plot->first;
		column = column < plot->count ? column : plot->count - 1;
		side->counts[column] += values->slots[slot].count;
	}
	for (unsigned i = 0; i < plot->count; i++) {
		const double share = (double)side->counts[i] / (double)values->count;

		plot->most = plot->most > share ? plot->most : share;
	}
	return true;
}

/* Release `ret` also after an error. */
static struct error *measure(const struct kstats_table *before, const struct kstats_table *after,
			     struct plot *ret)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct error *err;

	*ret = (struct plot){ .table = after };
	err = kstats_distribution_of(after, NULL, &ret->after.values);
	if (!err && before)
		err = kstats_distribution_of(before, NULL, &ret->before.values);
	if (err)
		return err;
	see_bounds(&ret->before, &low, &high);
	see_bounds(&ret->after, &low, &high);
	if (low > high)
		return NULL;
	choose_columns(ret, low, high);
	return fold(ret, &ret->before) && fold(ret, &ret->after) ? NULL : &error_no_memory;
}

static uint64_t low_of(const struct plot *plot, unsigned column)
{
	return bucket_low(plot->first + column, plot->bits);
}

static void draw_side(FILE *out, const struct plot *plot, const struct histogram_side *side,
		      const char *class, const char *when)
{
	const double width = (double)PLOT_WIDTH / plot->count;

	for (unsigned i = 0; side->counts && i < plot->count; i++) {
		const double share = (double)side->counts[i] / (double)side->values.count;
		const double height = PLOT_HEIGHT * share / plot->most;
		char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];

		if (!side->counts[i])
			continue;
		fprintf(out,
			"<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">"
			"<title>",
			class, LEFT + i * width, TOP + PLOT_HEIGHT - height,
			width > 2 ? width - 1 : width, height > 0.5 ? height : 0.5);
		fprintf(out, "%s%s .. %s: %" PRIu64 " (%.2f %%)</title></rect>\n", when,
			kstats_format_exact(low, plot->table, low_of(plot, i)),
			kstats_format_exact(high, plot->table,
					    bucket_high(plot->first + i, plot->bits)),
			side->counts[i], 100 * share);
	}
}

static void draw_axis(FILE *out, const struct plot *plot)
{
	const double width = (double)PLOT_WIDTH / plot->count;
	const unsigned each = (unsigned)(LABEL_WIDTH / width) + 1;
	char text[UNITS_TEXT_MAX];

	fprintf(out,
		"<text class=\"faint end\" x=\"%d\" y=\"%d\">%.1f %%</text>\n"
		"<line class=\"line\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
		LEFT - 6, TOP + 10, 100 * plot->most, LEFT, TOP + PLOT_HEIGHT, LEFT + PLOT_WIDTH,
		TOP + PLOT_HEIGHT);
	for (unsigned i = 0; i < plot->count && LEFT + i * width + LABEL_WIDTH * 2 / 3 < WIDTH;
	     i += each)
		fprintf(out, "<text class=\"faint\" x=\"%.2f\" y=\"%d\">%s</text>\n",
			LEFT + i * width, TOP + PLOT_HEIGHT + 16,
			kstats_format_exact(text, plot->table, low_of(plot, i)));
}

static unsigned column_of(const struct plot *plot, double fraction)
{
	const struct kstats_percentile p = kstats_percentile(&plot->after.values, fraction);

	return (unsigned)bucket_slot(p.low, plot->bits) - plot->first;
}

static void draw_mark(FILE *out, const struct plot *plot, unsigned column, const char *label)
{
	const double x = LEFT + (column + 0.5) * PLOT_WIDTH / plot->count;
	const bool has_room = x + LABEL_WIDTH / 2 < WIDTH;

	fprintf(out,
		"<line class=\"mark\" x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\"/>"
		"<text class=\"faint%s\" x=\"%.2f\" y=\"%d\">%s</text>\n",
		x, TOP - 2, x, TOP + PLOT_HEIGHT, has_room ? "" : " end", x + (has_room ? 3 : -3),
		TOP - 5, label);
}

/* Mark the median and the 99th percentile. Labels that would overlap are merged. */
static void draw_percentiles(FILE *out, const struct plot *plot)
{
	const uint64_t count = plot->after.values.count;
	unsigned half, most;

	if (!percentile_is_known(count, 0.5))
		return;
	half = column_of(plot, 0.5);
	most = percentile_is_known(count, 0.99) ? column_of(plot, 0.99) : half;
	if (most > half && (most - half) * PLOT_WIDTH / plot->count < 30) {
		draw_mark(out, plot, half, "");
		draw_mark(out, plot, most, "p50, p99");
		return;
	}
	if (most > half)
		draw_mark(out, plot, most, "p99");
	draw_mark(out, plot, half,
		  most == half && percentile_is_known(count, 0.99) ? "p50, p99" : "p50");
}

static void draw(FILE *out, const struct plot *plot)
{
	if (plot->before.counts)
		fputs("<p class=\"key\"><span><svg width=\"10\" height=\"10\"><rect class=\"exec\" "
		      "width=\"10\" height=\"10\"/></svg> after</span><span><svg width=\"10\" "
		      "height=\"10\"><rect class=\"outline\" x=\"1\" y=\"1\" width=\"8\" "
		      "height=\"8\"/></svg> before</span></p>\n",
		      out);
	fprintf(out,
		"<svg class=\"bars\" role=\"img\" aria-label=\"Histogram\" viewBox=\"0 0 %d %d\" "
		"width=\"%d\" height=\"%d\">\n",
		WIDTH, TOP + PLOT_HEIGHT + BELOW, WIDTH, TOP + PLOT_HEIGHT + BELOW);
	draw_side(out, plot, &plot->after, "exec", plot->before.counts ? "after: " : "");
	draw_side(out, plot, &plot->before, "outline", "before: ");
	draw_axis(out, plot);
	draw_percentiles(out, plot);
	fputs("</svg>\n", out);
}

/* --- text --- */

static struct error *print_text(FILE *out, const struct kstats_table *before,
				const struct kstats_table *after)
{
	/* The picture shows the histogram, so the text has a short one. */
	const struct kstats_style style = { .utf8 = true, .lines = 12 };
	_cleanup_free_ char *text = NULL;
	struct error *err;
	size_t length;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return &error_no_memory;
	err = before ? kstats_shift_text(memory, before, after, 0)
		     : kstats_report_text(memory, after, &style);
	if (!file_close_memory(memory, &text) && !err)
		err = &error_no_memory;
	if (err)
		return err;
	fputs("<pre>", out);
	err = markup_text(out, text_of(text));
	fputs("</pre>\n", out);
	return err;
}

struct error *kstats_page_print(FILE *out, const struct kstats_table *before,
				const struct kstats_table *after)
{
	_cleanup_free_ char *title =
		before ? kstats_shift_title(before, after) : kstats_table_title(after);
	_cleanup_(plot) struct plot plot;
	struct error *err = measure(before, after, &plot);

	if (err || !title)
		return err ? err : &error_no_memory;
	fputs("<h3>", out);
	err = markup_text(out, text_of(title));
	fputs("</h3>\n", out);
	if (plot.count)
		draw(out, &plot);
	return err ? err : print_text(out, before, after);
}

/* --- over time --- */

/* The values that were recorded between two readings, or all values of `now` if `before` is from
 * another recording. */
static struct error *values_since(const struct kstats_table *before, const struct kstats_table *now,
				  struct kstats_heat_line *ret)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *rest = NULL;
	struct error *err;

	ret->at_ns = now->taken_ns;
	ret->length_ns = now->window_ns ? now->window_ns : now->recorded_ns;
	if (!before || !now->began_ns || before->began_ns != now->began_ns)
		return kstats_distribution_of(now, NULL, &ret->values);
	err = kstats_table_copy_rows(now, &rest);
	if (err)
		return err;
	/* The recording was reset in between, or is another one. */
	err = kstats_table_subtract(rest, before);
	if (err) {
		error_destroy(err);
		return kstats_distribution_of(now, NULL, &ret->values);
	}
	ret->length_ns = now->taken_ns > before->taken_ns ? now->taken_ns - before->taken_ns : 0;
	return kstats_distribution_of(rest, NULL, &ret->values);
}

struct error *kstats_page_heat(FILE *out, const struct kstats_table *const *readings, size_t count)
{
	struct kstats_heat heat = { 0 };
	struct error *err = NULL;

	if (count < 3)
		return NULL;
	for (size_t i = 0; !err && i < count; i++) {
		struct kstats_heat_line line = { 0 };

		err = values_since(i ? readings[i - 1] : NULL, readings[i], &line);
		if (!err && array_push(&heat, line))
			continue;
		kstats_distribution_clear(&line.values);
		err = err ? err : &error_no_memory;
	}
	if (!err)
		err = kstats_heat_svg(out, readings[count - 1], &heat);
	kstats_heat_clear(&heat);
	return err;
}
