/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/kstats_histogram.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/bar.h"
#include "report/kstats_values.h"
#include "report/visible.h"

#define BAR_WIDTH 40
/* Columns before a bar, if bounds have the least width. */
#define BAR_PLACE 48
#define BAR_LEAST 8

/* The least width of a bound. */
#define BOUND_WIDTH 10

/* Rows are slots of so many bits; without any, 2^joined slots each. */
struct resolution {
	unsigned frac_bits, joined;
};

struct printed_histogram {
	const struct kstats_distribution *of;
	struct resolution resolution; /* no finer than there is */
	uint64_t *counts;             /* of rows */
	unsigned first, last;
	uint64_t most;
	uint64_t least, largest; /* bounds of all values */
	int width;               /* of the upper bounds */
};

static int bound_width(const struct kstats_table *table, uint64_t bound)
{
	char text[UNITS_TEXT_MAX];
	int width = (int)text_width(kstats_format_exact(text, table, bound));

	return width < BOUND_WIDTH ? BOUND_WIDTH : width;
}

/* Bounds of a row. Those of several powers of two end where the values end. */
static uint64_t low_of(const struct printed_histogram *h, unsigned row)
{
	const struct resolution *r = &h->resolution;
	const uint64_t low = bucket_low(row << r->joined, r->frac_bits);

	return r->joined && low < h->least ? h->least : low;
}

static uint64_t high_of(const struct printed_histogram *h, unsigned row)
{
	const struct resolution *r = &h->resolution;
	const unsigned last = BUCKET_SLOTS(r->frac_bits) - 2, slot = ((row + 1) << r->joined) - 1;
	const uint64_t high = bucket_high(slot < last ? slot : last, r->frac_bits);

	return r->joined && high > h->largest ? h->largest : high;
}

static void fold_histogram(struct printed_histogram *h)
{
	const unsigned fine = h->of->frac_bits;

	memset(h->counts, 0, BUCKET_SLOTS(fine) * sizeof(*h->counts));
	h->first = BUCKET_SLOTS(fine);
	h->last = 0;
	h->most = 0;
	for (unsigned slot = 0; slot < BUCKET_SLOTS(fine); slot++) {
		const struct resolution *r = &h->resolution;
		unsigned row = bucket_slot(bucket_low(slot, fine), r->frac_bits) >> r->joined;

		if (!h->of->slots[slot].count)
			continue;
		h->counts[row] += h->of->slots[slot].count;
		h->first = h->first < row ? h->first : row;
		h->last = row;
		if (h->most < h->counts[row])
			h->most = h->counts[row];
	}
}

static unsigned bar_width(const struct printed_histogram *h, const struct kstats_style *style)
{
	const size_t place = BAR_PLACE + 2 * (size_t)(h->width - BOUND_WIDTH);

	if (!style->width || style->width >= place + BAR_WIDTH)
		return BAR_WIDTH;
	return style->width > place + BAR_LEAST ? (unsigned)(style->width - place) : BAR_LEAST;
}

static void print_row(FILE *out, const struct kstats_table *table,
		      const struct printed_histogram *h, unsigned row,
		      const struct kstats_style *style)
{
	char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];
	const uint64_t count = h->counts[row];

	bar_label(out, kstats_format_exact(low, table, low_of(h, row)), h->width + 2);
	fputs(" .. ", out);
	bar_label(out, kstats_format_exact(high, table, high_of(h, row)), h->width);
	fprintf(out, " %12" PRIu64 " %5.1f%%", count, 100 * (double)count / (double)h->of->count);
	if (count) {
		fputs("  ", out);
		bar_print(out, (double)count / (double)h->most, bar_width(h, style), style->utf8);
	}
	fputc('\n', out);
}

/* The number of consecutive empty rows that are printed as one line. */
#define GAP_LINES 4

/* The first row from this one on that has a line: not the empty ones when they are many. The last
 * row is not empty. */
static unsigned next_line(const struct printed_histogram *h, unsigned row)
{
	unsigned next = row;

	while (!h->counts[next])
		next++;
	return next - row < GAP_LINES ? row : next;
}

static unsigned lines_of(const struct printed_histogram *h)
{
	unsigned lines = 0;

	for (unsigned row = h->first; row <= h->last; row++) {
		unsigned next = next_line(h, row);

		lines += 1 + (next != row);
		row = next;
	}
	return lines;
}

/* Choose the finest resolution that gives no more lines than requested. */
static void fit(struct printed_histogram *h, size_t lines)
{
	struct resolution *r = &h->resolution;

	fold_histogram(h);
	while (lines && lines_of(h) > lines && h->first < h->last) {
		if (r->frac_bits)
			r->frac_bits--;
		else
			r->joined++;
		fold_histogram(h);
	}
}

/* Empty rows in between are printed, to show gaps. */
struct error *kstats_histogram_print(FILE *out, const struct kstats_table *table,
				     const struct kstats_distribution *of,
				     const struct kstats_style *style)
{
	_cleanup_free_ uint64_t *counts = calloc(BUCKET_SLOTS(of->frac_bits), sizeof(*counts));
	struct printed_histogram h = { .of = of, .resolution = { of->frac_bits, 0 } };

	if (!counts)
		return &error_no_memory;
	h.counts = counts;
	h.least = kstats_percentile(of, 0).low;
	h.largest = kstats_percentile(of, 1).high;
	fit(&h, style->lines);
	h.width = bound_width(table, high_of(&h, h.last));
	for (unsigned row = h.first; row <= h.last; row++) {
		const unsigned next = next_line(&h, row);

		if (style->lines && next != row)
			fprintf(out, "%*s\n", h.width + 2, "...");
		row = style->lines ? next : row;
		if (style->lines || h.counts[row])
			print_row(out, table, &h, row, style);
	}
	return NULL;
}
