/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/percentiles.h"

#include "base/units.h"
#include "report/bar.h"
#include "report/visible.h"

const struct percentile_row percentile_rows[PERCENTILES] = {
	{ "p50", 0.5 },     { "p90", 0.9 },       { "p95", 0.95 }, { "p99", 0.99 },
	{ "p99.9", 0.999 }, { "p99.99", 0.9999 }, { "max", 1 },
};

/* The least width of a bound. */
#define BOUND_WIDTH 10

int percentile_width(const struct percentile_source *source, uint64_t bound)
{
	char text[UNITS_TEXT_MAX];
	int width = (int)text_width(source->format(text, source->of, bound));

	return width < BOUND_WIDTH ? BOUND_WIDTH : width;
}

static void print_one(FILE *out, const struct percentile_source *source,
		      const struct percentile_row *row, int width)
{
	const struct percentile_value value = source->at(source->of, row->fraction);
	char text[UNITS_TEXT_MAX];

	fprintf(out, "  %-6s ", row->name);
	bar_label(out, source->format(text, source->of, value.low), width + 1);
	if (value.low != value.high) {
		fputs(" .. ", out);
		bar_label(out, source->format(text, source->of, value.high), width);
		if (value.has_mean)
			fprintf(out, "  bucket mean %s",
				source->format(text, source->of, value.mean));
	}
	fputc('\n', out);
}

/* A percentile for which there are too few values is no number, but is named. */
void percentiles_print(FILE *out, const struct percentile_source *source)
{
	const int width = percentile_width(source, source->at(source->of, 1).high);
	const struct percentile_row *missing = NULL;
	char needs[UNITS_TEXT_MAX];

	for (size_t i = 0; i < PERCENTILES; i++) {
		const struct percentile_row *row = &percentile_rows[i];

		if (percentile_is_known(source->count, row->fraction))
			print_one(out, source, row, width);
		else if (!missing)
			missing = row;
	}
	if (missing)
		fprintf(out, "  %-6s needs %s values\n", missing->name,
			units_grouped(needs, (__int128)percentile_needs(missing->fraction), ""));
}
