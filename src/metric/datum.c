/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/datum.h"

#include <math.h>

/* Twice the value of what is whole. */
static bool twice_of(const struct datum *d, __int128 *ret)
{
	switch (d->kind) {
	case DATUM_NUMBER:
		*ret = d->number * 2;
		return true;
	case DATUM_RANGE:
		*ret = (__int128)d->range.smallest + d->range.largest;
		return true;
	case DATUM_CPUS:
		/* CPU sets of different threads have no one number. */
		*ret = (__int128)d->cpus.fewest + d->cpus.most;
		return d->cpus.set != NULL;
	default:
		return false;
	}
}

bool datum_magnitude(const struct datum *d, double *ret)
{
	__int128 twice;

	if (d->kind == DATUM_REAL)
		*ret = d->real;
	else if (twice_of(d, &twice))
		*ret = (double)twice / 2;
	else
		return false;
	return true;
}

bool datum_equal(const struct datum *a, const struct datum *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case DATUM_NONE:
	case DATUM_UNLIMITED:
	case DATUM_NO_EVENTS:
		return true;
	case DATUM_NUMBER:
		return a->number == b->number;
	case DATUM_REAL:
		return a->real == b->real;
	case DATUM_RANGE:
		return a->range.smallest == b->range.smallest &&
		       a->range.largest == b->range.largest;
	case DATUM_CATEGORY:
		return strcmp(a->category.text, b->category.text) == 0;
	case DATUM_CPUS:
		return a->cpus.fewest == b->cpus.fewest && a->cpus.most == b->cpus.most &&
		       (a->cpus.set && b->cpus.set ? name_compare(a->cpus.set, b->cpus.set) == 0
						   : a->cpus.set == b->cpus.set);
	}
	return false;
}

static void find_share(const struct datum *baseline, struct datum_change *change)
{
	double before;

	if (!change->has_delta || !datum_magnitude(baseline, &before))
		return;
	change->has_share = before != 0 || change->delta != 0;
	if (change->has_share)
		change->share = before != 0 ? change->delta / fabs(before)
					    : copysign(HUGE_VAL, change->delta);
}

void datum_compare(const struct datum *baseline, const struct datum *candidate,
		   struct datum_change *ret)
{
	struct datum_change change = { .differs = !datum_equal(baseline, candidate) };
	bool comparable =
		!baseline->partial && !candidate->partial && baseline->inputs == candidate->inputs;
	__int128 before, after;
	double x, y;

	if (comparable && twice_of(baseline, &before) && twice_of(candidate, &after)) {
		change.twice = after - before;
		change.delta = (double)change.twice / 2;
		change.has_delta = change.twice || !change.differs;
	} else if (comparable && datum_magnitude(baseline, &x) && datum_magnitude(candidate, &y)) {
		change.real = true;
		change.delta = y - x;
		change.has_delta = true;
	}
	find_share(baseline, &change);
	*ret = change;
}

bool datum_is_nothing(const struct datum *d)
{
	double value;

	if (d->kind == DATUM_NONE || d->kind == DATUM_NO_EVENTS)
		return true;
	return datum_magnitude(d, &value) && value == 0 &&
	       (d->kind != DATUM_RANGE || d->range.smallest == d->range.largest);
}
