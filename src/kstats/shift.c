/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/shift.h"

#include <math.h>

/* The two-sided 95 % quantile of the normal distribution. */
#define DEVIATIONS 1.959964

/* Doubles of very many are not exact, and may be one more than numbers hold. */
static uint64_t clamp_rank(const struct kstats_distribution *distribution, double rank)
{
	return rank < (double)distribution->count ? (uint64_t)rank : distribution->count;
}

struct kstats_confidence kstats_confidence(const struct kstats_distribution *distribution,
					   double fraction)
{
	double count = (double)distribution->count;
	double margin = DEVIATIONS * sqrt(count * fraction * (1 - fraction));
	double low = floor(count * fraction - margin), high = ceil(count * fraction + margin) + 1;
	struct kstats_confidence confidence = { 0, UINT64_MAX };

	if (!distribution->count)
		return confidence;
	if (low >= 1)
		confidence.low = kstats_ranked(distribution, clamp_rank(distribution, low)).low;
	if (high <= count)
		confidence.high = kstats_ranked(distribution, clamp_rank(distribution, high)).high;
	return confidence;
}

struct kstats_shift kstats_shift(const struct kstats_distribution *before,
				 const struct kstats_distribution *after, double fraction)
{
	struct kstats_confidence old = kstats_confidence(before, fraction);
	struct kstats_confidence new = kstats_confidence(after, fraction);
	struct kstats_shift shift = {
		.before = kstats_percentile(before, fraction),
		.after = kstats_percentile(after, fraction),
		.sureness = KSTATS_UNSURE,
	};

	shift.least = (double)shift.after.low - (double)shift.before.high;
	shift.most = (double)shift.after.high - (double)shift.before.low;
	if (new.low > old.high)
		shift.sureness = KSTATS_SLOWER;
	else if (new.high < old.low)
		shift.sureness = KSTATS_FASTER;
	else if (shift.before.slot == shift.after.slot)
		shift.sureness = KSTATS_SAME;
	return shift;
}

static double share_of(double change, uint64_t before)
{
	if (before)
		return change / (double)before;
	return change > 0 ? (double)INFINITY : 0;
}

struct kstats_shares kstats_shift_shares(const struct kstats_shift *shift)
{
	return (struct kstats_shares){ share_of(shift->least, shift->before.high),
				       share_of(shift->most, shift->before.low) };
}

double kstats_shift_factor(const struct kstats_distribution *before,
			   const struct kstats_distribution *after, double fraction)
{
	const struct kstats_confidence old = kstats_confidence(before, fraction);
	const struct kstats_confidence new = kstats_confidence(after, fraction);

	/* With one more of each: the slot of 0 is below all others. */
	if (new.low > old.high)
		return ((double)new.low + 1) / ((double)old.high + 1);
	if (new.high < old.low)
		return ((double)old.low + 1) / ((double)new.high + 1);
	return 1;
}

/* The limit distribution's tail: 2 sum (-1)^(k-1) exp(-2 k^2 x^2). */
static double tail(double x)
{
	double sum = 0, sign = 2;

	/* Below it is 1 to all digits that anybody prints, and the series does not converge. */
	if (x < 0.2)
		return 1;
	for (int k = 1; k <= 100; k++) {
		double term = sign * exp(-2.0 * k * k * x * x);

		sum += term;
		if (fabs(term) < 1e-12)
			break;
		sign = -sign;
	}
	return fmin(fmax(sum, 0), 1);
}

struct kstats_distance kstats_distance(const struct kstats_distribution *before,
				       const struct kstats_distribution *after)
{
	struct kstats_distance result = { 0, 1 };
	double old = (double)before->count, new = (double)after->count, effective;
	uint64_t passed_old = 0, passed_new = 0;

	if (!before->count || !after->count)
		return result;
	for (unsigned slot = 0; slot < BUCKET_SLOTS(before->frac_bits); slot++) {
		passed_old += before->slots[slot].count;
		passed_new += after->slots[slot].count;
		result.distance = fmax(result.distance,
				       fabs((double)passed_old / old - (double)passed_new / new));
	}
	/* No correction for few values: that of one sample (M. A. Stephens, "EDF Statistics for
	 * Goodness of Fit", 1974) makes it a third too small for two. */
	effective = sqrt(old * new / (old + new));
	result.probability = tail(effective * result.distance);
	return result;
}
