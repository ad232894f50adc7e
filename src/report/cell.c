/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

char *cell_cpus(char *buffer, size_t room, const struct name *set)
{
	const uint32_t *cpus = cpu_set_cpus(set);
	size_t count = cpu_set_count(set), used = 0, last;

	buffer[0] = '\0';
	for (size_t i = 0; i < count; i = last + 1) {
		const char *comma = used ? "," : "";
		int length;

		for (last = i; last + 1 < count && cpus[last + 1] == cpus[last] + 1;)
			last++;
		if (room - used < 32) {
			snprintf(buffer + used, room - used, ",...");
			break;
		}
		length = last == i ? snprintf(buffer + used, room - used, "%s%" PRIu32, comma,
					      cpus[i])
				   : snprintf(buffer + used, room - used, "%s%" PRIu32 "-%" PRIu32,
					      comma, cpus[i], cpus[last]);
		used += (size_t)length;
	}
	return buffer;
}

static void write_affinity(char buffer[CELL_MAX], const struct datum *d)
{
	char list[CELL_MAX - 64];

	if (d->cpus.set)
		snprintf(buffer, CELL_MAX, "%" PRIu32 " cpus (%s)", d->cpus.fewest,
			 cell_cpus(list, sizeof(list), d->cpus.set));
	else if (d->cpus.fewest == d->cpus.most)
		snprintf(buffer, CELL_MAX, "%" PRIu32 " cpus (mixed)", d->cpus.fewest);
	else
		snprintf(buffer, CELL_MAX, "%" PRIu32 "-%" PRIu32 " cpus (mixed)", d->cpus.fewest,
			 d->cpus.most);
}

static void write_category(char buffer[CELL_MAX], const struct datum *d)
{
	if (!d->threads || d->category.agree == d->threads)
		snprintf(buffer, CELL_MAX, "%s", d->category.text);
	else
		snprintf(buffer, CELL_MAX, "%.400s (%" PRIu32 "/%" PRIu32 ")", d->category.text,
			 d->category.agree, d->threads);
}

static void append(char buffer[CELL_MAX], const char *text)
{
	size_t used = strlen(buffer);

	snprintf(buffer + used, CELL_MAX - used, "%s", text);
}

/* A value of some of what there is says so, and one that cannot be. */
static void mark_value(char buffer[CELL_MAX], const struct datum *d)
{
	int delays = __builtin_popcount(d->inputs);
	char mark[64];

	/* Categories count those that agree, of all there are, by themselves. */
	if (d->partial && d->kind != DATUM_CATEGORY) {
		snprintf(mark, sizeof(mark), " (%" PRIu32 "/%" PRIu32 ")", d->measured, d->threads);
		append(buffer, mark);
	}
	if (delays && delays < DATUM_INPUTS) {
		snprintf(mark, sizeof(mark), " (%d of %d delays)", delays, DATUM_INPUTS);
		append(buffer, mark);
	}
	if (d->impossible)
		append(buffer, CELL_IMPOSSIBLE);
}

static char *write_cell_value(char buffer[CELL_MAX], const struct row *row, const struct datum *d)
{
	const struct measure *measure = row->measure;

	switch (d->kind) {
	case DATUM_NONE:
		return strcpy(buffer, CELL_NONE);
	case DATUM_NO_EVENTS:
		strcpy(buffer, "no events");
		mark_value(buffer, d);
		return buffer;
	case DATUM_UNLIMITED:
		return strcpy(buffer, "max");
	case DATUM_NUMBER:
		units_format(buffer, measure->unit, d->number);
		break;
	case DATUM_REAL:
		units_format_real(buffer, measure->unit, d->real, "");
		break;
	case DATUM_RANGE:
		snprintf(buffer, CELL_MAX,
			 d->range.smallest == d->range.largest ? "%" PRId64
							       : "%" PRId64 "..%" PRId64,
			 d->range.smallest, d->range.largest);
		break;
	case DATUM_CATEGORY:
		write_category(buffer, d);
		break;
	case DATUM_CPUS:
		write_affinity(buffer, d);
		break;
	}
	if (measure->per)
		append(buffer, measure->per);
	mark_value(buffer, d);
	return buffer;
}

static char *write_mean(char buffer[CELL_MAX], const struct row *row, const struct datum *d,
			double spread)
{
	char text[UNITS_TEXT_MAX];

	write_cell_value(buffer, row, d);
	if (isnan(spread))
		return buffer;
	append(buffer, " ±");
	append(buffer, units_format_real(text, row->measure->unit, spread, ""));
	if (row->measure->per)
		append(buffer, row->measure->per);
	return buffer;
}

char *cell_before(char buffer[CELL_MAX], const struct row *row)
{
	return row->significance
		       ? write_mean(buffer, row, &row->before, row->significance->before_spread)
		       : write_cell_value(buffer, row, &row->before);
}

char *cell_after(char buffer[CELL_MAX], const struct row *row)
{
	return row->significance
		       ? write_mean(buffer, row, &row->after, row->significance->after_spread)
		       : write_cell_value(buffer, row, &row->after);
}

/* Without a number, whether they are the same is all there is to say. */
static const char *in_words(const struct row *row)
{
	const struct datum *x = &row->before, *y = &row->after;
	bool is_number = y->kind == DATUM_NUMBER || y->kind == DATUM_REAL;

	if (x->kind == DATUM_NONE || y->kind == DATUM_NONE || x->kind == DATUM_NO_EVENTS ||
	    y->kind == DATUM_NO_EVENTS)
		return CELL_NONE;
	if (is_number && x->kind == y->kind)
		return CELL_NONE;
	if (x->partial || y->partial)
		return CELL_NONE;
	return row->change.differs ? "differs" : "same";
}

char *cell_delta(char buffer[CELL_MAX], const struct row *row, bool rate)
{
	const struct datum_change *change = &row->change;
	bool whole = row->after.kind == DATUM_NUMBER;

	if (!change->has_delta || (!change->real && !change->twice && !whole))
		return strcpy(buffer, change->has_delta ? "same" : in_words(row));
	if (change->real)
		units_format_real(buffer, row->measure->unit, change->delta, "+");
	else
		units_format_half_delta(buffer, row->measure->unit, change->twice);
	if (row->measure->per)
		append(buffer, row->measure->per);
	if (rate && row->measure->is_total && !row->significance)
		append(buffer, "/s");
	if (row_is_impossible(row))
		append(buffer, CELL_IMPOSSIBLE);
	return buffer;
}

/* Beyond this many times the baseline, the digits say no more: the baseline was next to nothing. */
#define SHARE_MOST 1000.0

char *cell_percent(char buffer[CELL_MAX], const struct row *row)
{
	const struct datum_change *change = &row->change;

	if (!change->has_share || row->measure->is_ratio)
		return strcpy(buffer, CELL_NONE);
	if (isinf(change->share))
		strcpy(buffer,
		       row->measure->unit == UNIT_NONE || change->share < 0 ? CELL_NONE : "new");
	else if (fabs(change->share) > SHARE_MOST)
		snprintf(buffer, CELL_MAX, "%s>%.0fx", change->share < 0 ? "-" : "", SHARE_MOST);
	else
		snprintf(buffer, CELL_MAX, "%+.1f%%", change->share * 100);
	if (row_is_impossible(row))
		append(buffer, CELL_IMPOSSIBLE);
	return buffer;
}

char *cell_share(char buffer[CELL_MAX], const struct row *row)
{
	if (!row->has_host_share)
		return strcpy(buffer, CELL_NONE);
	snprintf(buffer, CELL_MAX, "%.1f%%", row->host_share * 100);
	return buffer;
}

char *cell_probability(char buffer[CELL_MAX], const struct row *row)
{
	if (!row->significance || row->significance->p > 1)
		return strcpy(buffer, CELL_NONE);
	if (row->significance->p < 0.001)
		return strcpy(buffer, "<0.001");
	snprintf(buffer, CELL_MAX, "%.3f", row->significance->p);
	return buffer;
}
