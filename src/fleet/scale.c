/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/scale.h"

#include <math.h>
#include <stdlib.h>

/* NaN without values or memory. */
static double median_of(const double *values, size_t count)
{
	_cleanup_free_ double *kept = malloc((count + 1) * sizeof(*kept));
	size_t number = 0;

	for (size_t i = 0; kept && i < count; i++)
		if (!isnan(values[i]))
			kept[number++] = values[i];
	return sort_for_median(kept, number);
}

struct fleet_scale fleet_scale_of(enum fleet_kind kind, const double *values, size_t count)
{
	struct fleet_scale scale = { .is_share = fleet_kinds[kind].is_share };

	if (scale.is_share) {
		scale.start = SHARE_START;
		scale.points_least = SHARE_POINTS;
	} else {
		/* fmax() of NaN and a number is the number. */
		scale.start = fmax(median_of(values, count) / 10, RATE_START);
		scale.points_least = scale.start;
	}
	return scale;
}

double fleet_scale_to(const struct fleet_scale *scale, double value)
{
	/* Of NaN and a number fmax() makes the number. */
	if (isnan(value))
		return NAN;
	value = fmax(value, 0);
	if (!scale->is_share)
		return log(value + scale->start);
	value = fmin(value, 1);
	return log((value + scale->start) / (1 - value + scale->start));
}

double fleet_scale_from(const struct fleet_scale *scale, double scaled)
{
	const double odds = exp(scaled);

	/* A rate of 0 comes back as what rounding leaves of `start`. */
	if (!scale->is_share)
		return odds - scale->start > scale->start * 1e-9 ? odds - scale->start : 0;
	/* The limit for odds without end. */
	if (isinf(odds))
		return 1;
	return fmin(fmax((odds * (1 + scale->start) - scale->start) / (1 + odds), 0), 1);
}

double fleet_scale_error(const struct fleet_scale *scale, double amount, double base, double event)
{
	const double value = scale->is_share ? fmin(amount / base, 1) : amount / base;
	const double rest = 1 - value;

	if (!scale->is_share)
		return sqrt((amount + event) * event) / base / (value + scale->start);
	/* That of a binomial distribution: if one part is much smaller, that of this part. */
	return sqrt((value * base + event) * (rest * base + event) / (base + 2 * event) * event) /
	       base * (1 / (value + scale->start) + 1 / (rest + scale->start));
}

double fleet_scale_weight(const struct fleet_scale *scale, double value, double other)
{
	const double doublings =
		(fleet_scale_to(scale, value) - fleet_scale_to(scale, other)) / log(2);

	if (fabs(value - other) < scale->points_least)
		return 0;
	return scale->is_share ? fabs(value - other) : fmin(fabs(doublings) * 0.05, 0.5);
}

double fleet_scale_beyond(double distance)
{
	return copysign(fmax(fabs(distance) - SCALE_LEAST, 0), distance);
}
