/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a comparison of hosts found: a measure of a program that differs, with the size of the
 * difference, its interval, and the rate of false discoveries.
 *
 *	comparison	value			other
 *	of hosts	of the host		the mean of its peers
 *	of groups	the second group	the first group
 *	of times	after			before
 */
#ifndef FLEET_FINDING_H
#define FLEET_FINDING_H

#include "fleet/data.h"

enum fleet_comparison { FLEET_OF_HOSTS, FLEET_OF_GROUPS, FLEET_OF_TIMES };

/* The largest q of a finding. */
#define FLEET_Q_MOST 0.05

struct fleet_finding {
	uint32_t measure;
	uint32_t host; /* FLEET_NONE: all hosts of a group */
	double value, other;
	/* The 95 % interval of `other`. Of hosts it is the prediction interval of one more peer. */
	double other_low, other_high;
	/* value - other, and its 95 % interval. */
	double effect, effect_low, effect_high;
	size_t hosts, peers; /* whose values `value` and `other` are */
	double weight;       /* for order: see fleet_scale_weight() */
	double p, q;
};

/* What was compared, and what could not be. */
struct fleet_findings {
	ARRAY(struct fleet_finding); /* the largest weight first */
	size_t candidates;           /* with those behind `count`, whose q is too large */
	size_t tests;
	size_t measures;         /* that had enough hosts */
	size_t measures_too_few; /* that were left out for want of hosts */
	size_t too_little;       /* values of hosts left out, as the program ran too little */
};

/* The measure in which hosts differ. */
static inline const struct fleet_measure *fleet_finding_measure(const struct fleet_data *data,
								const struct fleet_finding *finding)
{
	return &data->measures.items[finding->measure];
}

void fleet_findings_deinit(struct fleet_findings *findings);

/* Compute q over all tests, sort the findings that are significant and large enough, and move the
 * others behind `count`. False without memory. */
bool fleet_findings_settle(struct fleet_findings *findings) MUST_CHECK;

/* Move all of `from` to `to`, and settle them together. False without memory. */
bool fleet_findings_join(struct fleet_findings *to, struct fleet_findings *from) MUST_CHECK;

/* Add one that was tested; false without memory. One whose p is larger than FLEET_Q_MOST counts as
 * tested, and needs no memory: its q is not smaller. */
bool fleet_findings_add(struct fleet_findings *findings,
			const struct fleet_finding *finding) MUST_CHECK;

#endif
