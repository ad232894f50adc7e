/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a comparison of hosts found: a measure of a program that differs, of a host or of all of
 * them, with its effect, the interval of that, and the rate of false discoveries.
 */
#ifndef FLEET_FINDING_H
#define FLEET_FINDING_H

#include "fleet/data.h"

/* Findings with a q above this are none. */
#define FLEET_Q_MOST 0.05

struct fleet_finding {
	uint32_t measure;
	uint32_t host; /* FLEET_NONE: all hosts of a group */
	/* Values: of the host and of its peers; or of two groups, the second against the first; or
	 * after and before. */
	double value, other;
	/* In which the other value is with 95 % confidence: of hosts, one more peer. */
	double other_low, other_high;
	/* value - other. */
	double effect, effect_low, effect_high;
	size_t hosts, peers; /* that `value` and `other` are of */
	double weight;       /* for order: see fleet_scale_weight() */
	double p, q;
};

/* What was compared, and what could not be. */
struct fleet_findings {
	ARRAY(struct fleet_finding); /* by host and program together: the largest first */
	size_t tests;
	size_t measures;         /* of them, that had enough hosts */
	size_t measures_too_few; /* that were left out for want of hosts */
	size_t too_little;       /* values of hosts left out, as the program ran too little */
};

void fleet_findings_deinit(struct fleet_findings *findings);

/* Give each its q among `findings->tests`, order those that are discoveries and matter, and move
 * the others behind `count`. False without memory. */
bool fleet_findings_settle(struct fleet_findings *findings) MUST_CHECK;

/* Add all of `from`, which is empty then, and settle both together. False without memory. */
bool fleet_findings_join(struct fleet_findings *to, struct fleet_findings *from) MUST_CHECK;

/* Add one that was tested; false without memory. */
bool fleet_findings_add(struct fleet_findings *findings,
			const struct fleet_finding *finding) MUST_CHECK;

#endif
