/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/significance.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "statistics/statistics.h"

/* The 75th percentile of the standard normal distribution, and the root of pi / 2. */
#define NORMAL_QUARTILE   0.6745
#define NORMAL_DEVIATIONS 1.253314

bool robust_spread(const double *values, size_t count, struct robust_spread *ret)
{
	_cleanup_free_ double *kept = malloc((count + 1) * sizeof(*kept));
	double sum = 0, deviation;

	*ret = (struct robust_spread){ 0 };
	if (!kept)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!isnan(values[i]))
			kept[ret->count++] = values[i];
	if (!ret->count)
		return true;
	ret->median = sort_for_median(kept, ret->count);
	for (size_t i = 0; i < ret->count; i++) {
		kept[i] = fabs(kept[i] - ret->median);
		sum += kept[i];
	}
	deviation = sort_for_median(kept, ret->count);
	ret->scale = deviation > 0 ? deviation / NORMAL_QUARTILE
				   : sum / (double)ret->count * NORMAL_DEVIATIONS;
	return true;
}

double robust_score(const struct robust_spread *spread, double value)
{
	double distance = value - spread->median;

	if (distance == 0)
		return 0;
	return spread->scale > 0 ? distance / spread->scale : copysign(INFINITY, distance);
}

double robust_certainty(const struct robust_spread *spread, double value)
{
	double size = fabs(robust_score(spread, value)) / OUTLIER_SCORE;

	return CERTAINTY_LEAST + (1 - CERTAINTY_LEAST) * fmin(size, 1);
}
