/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/slo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

static const struct {
	struct text name;
	enum kstats_quantity quantity;
} quantities[] = {
	{ { "max", 3 }, KSTATS_QUANTITY_MAX },
	{ { "mean", 4 }, KSTATS_QUANTITY_MEAN },
	{ { "count", 5 }, KSTATS_QUANTITY_COUNT },
	{ { "lost", 4 }, KSTATS_QUANTITY_LOST },
};

/* "p99.9": digits with at most one point, of a number from 0 to 100. */
static bool take_percentile(struct text text, struct kstats_aspect *aspect)
{
	char digits[24], *end;

	if (text.length < 2 || text.length >= sizeof(digits) || text.bytes[0] != 'p')
		return false;
	for (size_t i = 1; i < text.length; i++)
		if (!memchr("0123456789.", text.bytes[i], 11))
			return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)text.length - 1, text.bytes + 1);
	aspect->quantity = KSTATS_QUANTITY_PERCENTILE;
	aspect->fraction = strtod(digits, &end) / 100;
	return !*end && aspect->fraction <= 1;
}

bool kstats_aspect_parse(struct text text, struct kstats_aspect *ret)
{
	for (size_t i = 0; i < array_length(quantities); i++)
		if (text_equal(text, quantities[i].name)) {
			*ret = (struct kstats_aspect){ .quantity = quantities[i].quantity };
			return true;
		}
	return take_percentile(text, ret);
}

bool kstats_aspect_is_number(const struct kstats_aspect *aspect)
{
	return aspect->quantity == KSTATS_QUANTITY_COUNT ||
	       aspect->quantity == KSTATS_QUANTITY_LOST;
}

/* "50us", "1000". */
static bool parse_slo_limit(struct text text, struct kstats_slo *slo)
{
	struct amount limit;

	if (!units_parse(text, &limit) || limit.value < 0)
		return false;
	slo->limit = limit.value;
	slo->is_time = limit.dimension == DIMENSION_TIME;
	return limit.dimension == DIMENSION_COUNT ||
	       (slo->is_time && !kstats_aspect_is_number(&slo->aspect));
}

struct error *kstats_slo_parse(struct text text, struct kstats_slo *ret)
{
	struct kstats_slo slo = { 0 };
	size_t at = 0;

	while (at < text.length && text.bytes[at] != '<' && text.bytes[at] != '>')
		at++;
	if (at == text.length ||
	    !kstats_aspect_parse(text_trim((struct text){ text.bytes, at }), &slo.aspect))
		return error_create("invalid SLO '%.*s': expected e.g. p99<50us, max<=1ms, "
				    "mean<3us, count>100, lost<1",
				    (int)(text.length < 60 ? text.length : 60), text.bytes);
	slo.is_above = text.bytes[at++] == '>';
	slo.or_equal = at < text.length && text.bytes[at] == '=';
	at += slo.or_equal;
	if (!parse_slo_limit(text_trim((struct text){ text.bytes + at, text.length - at }), &slo))
		return error_create("invalid SLO limit '%.*s': expected e.g. 50us, 1.5ms, 1000",
				    (int)(text.length - at < 60 ? text.length - at : 60),
				    text.bytes + at);
	*ret = slo;
	return NULL;
}

static struct kstats_measured measure_losses(const struct kstats_table *table)
{
	double sum = 0, sure;

	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		sum += (double)table->losses[loss];
	/* Some may only have begun before recording did. */
	sure = table->earlier_known ? sum : sum - (double)table->losses[KSTATS_LOSS_unmatched];
	/* Uncounted losses are not zero losses. */
	return (struct kstats_measured){ sure, table->losses_known & 1u << KSTATS_LOSS_missed
						       ? sum
						       : INFINITY };
}

/* Each value lost less than a step of its scale. */
static struct kstats_measured measure_mean(const struct kstats_distribution *distribution)
{
	double mean = kstats_mean(distribution), lost = 0;

	for (unsigned slot = 0; slot < BUCKET_SLOTS(distribution->frac_bits); slot++)
		lost += (double)distribution->slots[slot].count *
			((double)(1ull << bucket_shift(slot, distribution->frac_bits)) - 1);
	if (distribution->count)
		lost /= (double)distribution->count;
	return (struct kstats_measured){ mean, mean + lost };
}

struct kstats_measured kstats_measure(const struct kstats_aspect *aspect,
				      const struct kstats_table *table,
				      const struct kstats_distribution *distribution)
{
	struct kstats_percentile percentile;

	switch (aspect->quantity) {
	case KSTATS_QUANTITY_COUNT:
		return (struct kstats_measured){ (double)distribution->count,
						 (double)distribution->count };
	case KSTATS_QUANTITY_LOST:
		return measure_losses(table);
	case KSTATS_QUANTITY_MEAN:
		return measure_mean(distribution);
	default:
		percentile = kstats_percentile(distribution, aspect->quantity == KSTATS_QUANTITY_MAX
								     ? 1
								     : aspect->fraction);
		return (struct kstats_measured){ (double)percentile.low, (double)percentile.high };
	}
}

static bool holds(const struct kstats_slo *slo, double value)
{
	if (slo->or_equal && value == slo->limit)
		return true;
	return slo->is_above ? value > slo->limit : value < slo->limit;
}

enum kstats_verdict kstats_slo_judge(const struct kstats_slo *slo, const struct kstats_table *table,
				     const struct kstats_distribution *distribution,
				     struct kstats_measured *ret)
{
	struct kstats_measured measured = kstats_measure(&slo->aspect, table, distribution);
	bool low, high;

	if (ret)
		*ret = measured;
	if (!distribution->count && !kstats_aspect_is_number(&slo->aspect))
		return KSTATS_UNDECIDED;
	if (slo->is_time && strcmp(table->unit, unit_name(UNIT_NS)) != 0)
		return KSTATS_UNDECIDED;
	low = holds(slo, measured.low);
	high = holds(slo, measured.high);
	if (low != high)
		return KSTATS_UNDECIDED;
	return low ? KSTATS_KEPT : KSTATS_BROKEN;
}
