/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/kstats_heat.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/units.h"
#include "report/bar.h"
#include "report/kstats_values.h"
#include "report/markup.h"
#include "report/stream.h"
#include "report/visible.h"

void kstats_heat_clear(struct kstats_heat *heat)
{
	for (size_t i = 0; i < heat->count; i++)
		kstats_distribution_clear(&heat->items[i].values);
	array_deinit(heat);
}

/* Ranges are slots of few bits, from that of the axis' low end to that of its high end. */
struct ranges {
	unsigned first, count;
	uint64_t counts[BUCKET_SLOTS(KSTATS_HEAT_BITS_MAX)];
	uint64_t most;
};

static unsigned ranges_of(const struct kstats_heat_axis *axis)
{
	return bucket_slot(axis->high, axis->bits) - bucket_slot(axis->low, axis->bits) + 1;
}

bool kstats_heat_see(struct kstats_heat_axis *axis, const struct kstats_distribution *distribution)
{
	const uint64_t low = kstats_percentile(distribution, 0).low;
	const uint64_t high = kstats_percentile(distribution, 1).high;

	if (!distribution->count || (axis->low <= low && high <= axis->high))
		return false;
	axis->low = axis->low < low ? axis->low : low;
	axis->high = axis->high > high ? axis->high : high;
	axis->bits = distribution->frac_bits < KSTATS_HEAT_BITS_MAX ? distribution->frac_bits
								    : KSTATS_HEAT_BITS_MAX;
	while (axis->bits && ranges_of(axis) > axis->columns)
		axis->bits--;
	return true;
}

static void fold_into_ranges(struct ranges *r, const struct kstats_distribution *values,
			     const struct kstats_heat_axis *axis)
{
	*r = (struct ranges){ .first = bucket_slot(axis->low, axis->bits) };
	r->count = ranges_of(axis);
	for (unsigned slot = 0; slot < BUCKET_SLOTS(values->frac_bits); slot++) {
		unsigned place = bucket_slot(bucket_low(slot, values->frac_bits), axis->bits);

		if (!values->slots[slot].count)
			continue;
		place = place < r->first ? 0 : place - r->first;
		place = place < r->count ? place : r->count - 1;
		r->counts[place] += values->slots[slot].count;
		if (r->most < r->counts[place])
			r->most = r->counts[place];
	}
}

/* --- text --- */

#define SHADES 5

static const char *const plain_shades[SHADES] = { " ", ".", ":", "+", "#" };
static const char *const block_shades[SHADES] = { " ", "░", "▒", "▓", "█" };

/* Shades are logarithmic, so that a few values beside many are visible. */
static unsigned shade_of(uint64_t count, uint64_t most)
{
	if (!count)
		return 0;
	return 1 + (unsigned)((SHADES - 2) * log1p((double)count) / log1p((double)most));
}

/* Yellow over red to white, as flame graphs' peers have them (the 256 colours of terminals). */
static const unsigned char colours[SHADES] = { 0, 52, 124, 208, 226 };

static void print_shade(FILE *out, const struct kstats_heat_axis *axis, unsigned shade)
{
	const char *mark = (axis->utf8 ? block_shades : plain_shades)[shade];

	if (axis->colour && shade)
		fprintf(out, "\033[38;5;%um%s\033[0m", colours[shade], mark);
	else
		fputs(mark, out);
}

void kstats_heat_heading(FILE *out, const struct kstats_table *table,
			 const struct kstats_heat_axis *axis)
{
	char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];
	unsigned first = bucket_slot(axis->low, axis->bits);
	unsigned last = bucket_slot(axis->high, axis->bits);
	int width = (int)(last - first + 1);

	if (axis->low > axis->high) {
		fprintf(out, "%-*s %10s %10s %10s\n", axis->has_fractions ? 13 : 9, "time", "count",
			"p50 up to", "p99 up to");
		return;
	}
	kstats_format(low, table, (double)bucket_low(first, axis->bits));
	kstats_format(high, table, (double)bucket_high(last, axis->bits));
	/* The upper ends of their slots. */
	fprintf(out, "%-*s %10s %10s %10s  %s", axis->has_fractions ? 13 : 9, "time", "count",
		"p50 up to", "p99 up to", low);
	/* Above the first and the last column of the lines, and never into each other. */
	width -= (int)text_width(low);
	fputc(' ', out);
	bar_label(out, high, width > 1 ? width - 1 : 1);
	fputc('\n', out);
}

/* Print the losses of the interval, and end the line. */
static void print_lost(FILE *out, const struct kstats_table *table)
{
	uint64_t lost = 0;

	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		lost += table->losses[loss];
	if (lost)
		fprintf(out, " lost %" PRIu64, lost);
	fputc('\n', out);
}

void kstats_heat_line(FILE *out, const struct kstats_table *table,
		      const struct kstats_heat_axis *axis, const struct kstats_heat_line *line)
{
	time_t seconds = (time_t)(line->at_ns / NS_PER_S);
	char text[UNITS_TEXT_MAX];
	struct ranges r;
	struct tm time;

	gmtime_r(&seconds, &time);
	fprintf(out, "%02d:%02d:%02d", time.tm_hour, time.tm_min, time.tm_sec);
	if (axis->has_fractions)
		fprintf(out, ".%03u", (unsigned)(line->at_ns % NS_PER_S / (NS_PER_S / 1000)));
	fprintf(out, "Z %10" PRIu64 " ", line->values.count);
	if (!line->values.count) {
		fprintf(out, "%10s %10s", "-", "-");
		print_lost(out, table);
		return;
	}
	bar_label(out, kstats_format_percentile(text, table, &line->values, 0.5), 10);
	fputc(' ', out);
	bar_label(out, kstats_format_percentile(text, table, &line->values, 0.99), 10);
	fputs(" |", out);
	fold_into_ranges(&r, &line->values, axis);
	for (unsigned i = 0; i < r.count; i++)
		print_shade(out, axis, shade_of(r.counts[i], r.most));
	fputc('|', out);
	print_lost(out, table);
}

/* --- SVG --- */

/* Of a cell: as much as there is of the plot, but no more. */
#define CELL_HEIGHT_MAX 24
#define PLOT_HEIGHT     480
#define PLOT_WIDTH      900
#define LEFT            90
#define TOP             54

struct extent {
	struct kstats_heat_axis axis;
	uint64_t most;
	unsigned first, count;
	double height; /* of a cell */
};

static struct extent extent_of(const struct kstats_heat *heat)
{
	struct kstats_heat_axis axis = { .low = UINT64_MAX, .bits = KSTATS_HEAT_BITS };
	struct extent e = { 0 };
	struct ranges r;

	for (size_t i = 0; i < heat->count; i++) {
		const struct kstats_distribution *values = &heat->items[i].values;
		uint64_t low = kstats_percentile(values, 0).low;
		uint64_t high = kstats_percentile(values, 1).high;

		if (!values->count)
			continue;
		axis.low = axis.low < low ? axis.low : low;
		axis.high = axis.high > high ? axis.high : high;
	}
	if (axis.low > axis.high)
		axis.low = axis.high;
	e.axis = axis;
	for (size_t i = 0; i < heat->count; i++) {
		fold_into_ranges(&r, &heat->items[i].values, &axis);
		e.most = e.most > r.most ? e.most : r.most;
	}
	e.first = bucket_slot(axis.low, axis.bits);
	e.count = ranges_of(&axis);
	e.height = (double)PLOT_HEIGHT / e.count;
	if (e.height > CELL_HEIGHT_MAX)
		e.height = CELL_HEIGHT_MAX;
	return e;
}

/* Classes of cells, by which a dark page gives them other colours (assets/report_page.css). */
#define COLOUR_CLASSES 8

/* `share`: 0 to 1, of the logarithm. */
static void print_colour(FILE *out, double share)
{
	const unsigned class = 1 + (unsigned)(share * COLOUR_CLASSES);

	fprintf(out, "class=\"heat%u\" fill=\"hsl(%.0f 90%% %.0f%%)\"",
		class < COLOUR_CLASSES ? class : COLOUR_CLASSES, 55 - 55 * share, 90 - 50 * share);
}

/* Time goes to the right, values go up, and each cell says what it is when it is pointed at. */
static struct error *print_cells(FILE *out, const struct kstats_table *table,
				 const struct kstats_heat *heat, const struct extent *e)
{
	double width = (double)PLOT_WIDTH / (double)(heat->count ? heat->count : 1);
	const double height = e->height;

	for (size_t i = 0; i < heat->count; i++) {
		struct ranges r;

		fold_into_ranges(&r, &heat->items[i].values, &e->axis);
		for (unsigned at = 0; at < r.count; at++) {
			char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];
			double share = log1p((double)r.counts[at]) / log1p((double)e->most);

			if (!r.counts[at])
				continue;
			fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" ",
				LEFT + (double)i * width, TOP + (e->count - 1 - at) * height, width,
				height);
			print_colour(out, share);
			fprintf(out,
				"><title>%" PRIu64
				" value%s from %s to %s, interval %zu</title></rect>\n",
				r.counts[at], plural(r.counts[at]),
				kstats_format(low, table,
					      (double)bucket_low(e->first + at, KSTATS_HEAT_BITS)),
				kstats_format(high, table,
					      (double)bucket_high(e->first + at, KSTATS_HEAT_BITS)),
				i + 1);
		}
	}
	return NULL;
}

static void print_axis(FILE *out, const struct kstats_table *table, const struct kstats_heat *heat,
		       const struct extent *e)
{
	const double height = e->height;
	char text[UNITS_TEXT_MAX];
	double seconds = 0;

	for (unsigned at = 0; at < e->count; at += 1 + e->count / 16)
		fprintf(out, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%s</text>\n", LEFT - 6,
			TOP + (e->count - at) * height - 4,
			kstats_format(text, table,
				      (double)bucket_low(e->first + at, KSTATS_HEAT_BITS)));
	for (size_t i = 0; i < heat->count; i++)
		seconds += (double)heat->items[i].length_ns / NS_PER_S;
	fprintf(out, "<text x=\"%d\" y=\"%.2f\">0 s</text>\n", LEFT, TOP + e->count * height + 16);
	fprintf(out, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%.1f s</text>\n",
		LEFT + PLOT_WIDTH, TOP + e->count * height + 16, seconds);
}

#define LEGEND_STEPS 5
#define LEGEND_WIDTH 40
/* Below the plot: the times, and the legend. */
#define BELOW 56

/* From one value to as many as the fullest cell has. */
static void print_legend(FILE *out, const struct extent *e, double top)
{
	char text[UNITS_TEXT_MAX];

	fprintf(out, "<text x=\"%d\" y=\"%.2f\">values in a cell</text>\n", LEFT, top + 11);
	for (unsigned i = 0; i < LEGEND_STEPS && e->most; i++) {
		const double share = (double)(i + 1) / LEGEND_STEPS;
		const double x = LEFT + 110 + i * 3.0 * LEGEND_WIDTH;

		fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%d\" height=\"12\" ", x, top,
			LEGEND_WIDTH);
		print_colour(out, share);
		fprintf(out, "/>\n<text x=\"%.2f\" y=\"%.2f\">%s%s</text>\n", x + LEGEND_WIDTH + 4,
			top + 11, i + 1 < LEGEND_STEPS ? "to " : "",
			units_grouped(text, (__int128)(expm1(share * log1p((double)e->most)) + 0.5),
				      ""));
	}
}

static void print_date(FILE *out, uint64_t at_ns)
{
	const time_t seconds = (time_t)(at_ns / NS_PER_S);
	char text[40];
	struct tm time;

	gmtime_r(&seconds, &time);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &time);
	fputs(text, out);
}

/* "on web7, 2026-01-01 10:00:00 to 2026-01-01 10:01:00 UTC, 60 intervals, 12,345 values" */
static struct error *print_facts(FILE *out, const struct kstats_table *table,
				 const struct kstats_heat *heat)
{
	char text[UNITS_TEXT_MAX];
	struct error *err = NULL;
	uint64_t values = 0;

	if (table->host) {
		fputs("on ", out);
		err = markup_text(out, text_of(table->host));
		fputs(", ", out);
	}
	if (heat->count) {
		print_date(out, heat->items[0].at_ns - heat->items[0].length_ns);
		fputs(" to ", out);
		print_date(out, heat->items[heat->count - 1].at_ns);
		fputs(" UTC, ", out);
	}
	for (size_t i = 0; i < heat->count; i++)
		values += heat->items[i].values.count;
	fprintf(out, "%zu interval%s, %s value%s", heat->count, plural(heat->count),
		units_grouped(text, values, ""), plural(values));
	return err;
}

struct error *kstats_heat_svg(FILE *out, const struct kstats_table *table,
			      const struct kstats_heat *heat)
{
	_cleanup_free_ char *title = kstats_table_title(table);
	const struct extent e = extent_of(heat);
	const double bottom = TOP + e.count * e.height;
	const int width = LEFT + PLOT_WIDTH + 20, height = (int)bottom + BELOW;
	struct error *err;

	if (!title)
		return &error_no_memory;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect class=\"paper\" width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"%d\" y=\"24\" font-size=\"16\">",
		width, height, width, height, LEFT);
	err = markup_text(out, text_of(title));
	fprintf(out, "</text>\n<text x=\"%d\" y=\"42\" class=\"faint\" fill=\"#555\">", LEFT);
	err = error_first(err, print_facts(out, table, heat));
	fputs("</text>\n", out);
	if (!err)
		err = print_cells(out, table, heat, &e);
	if (!err) {
		print_axis(out, table, heat, &e);
		print_legend(out, &e, bottom + 32);
	}
	fputs("</svg>\n", out);
	return err;
}
