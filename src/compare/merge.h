/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of several things that go by one name as one number, on each side: cgroups that were
 * flattened together, processes of one name.
 *
 *	struct merges merges = { 0 };
 *	done = merges_member(&merges, label, MERGE_AFTER) &&
 *	       merges_add(&merges, label, measure, MERGE_AFTER, MERGE_SUM, reading);
 *	...
 *	done = merges_rows(&merges, report, NULL);
 *
 * A number that not all members had is marked as partial; one that no member had is not measured.
 */
#ifndef COMPARE_MERGE_H
#define COMPARE_MERGE_H

#include "compare/report.h"

enum merge_side { MERGE_BEFORE, MERGE_AFTER, MERGE_SIDES };

/* The rule by which members are merged. */
enum merge {
	MERGE_SUM,
	MERGE_MAX,
	MERGE_LIMIT, /* the largest, and none where one has none */
	MERGE_FLOOR, /* the smallest */
};

struct merged {
	const struct measure *measure;
	uint32_t next; /* the next number of the same label, in a ring */
	/* By side. There may be millions of numbers: each fills one cache line. */
	uint32_t had[MERGE_SIDES]; /* how many members had the number */
	bool unlimited[MERGE_SIDES];
	__int128 value[MERGE_SIDES];
};

struct merge_label {
	const struct name *label;
	uint32_t members[MERGE_SIDES];
	uint32_t count; /* numbers of this label */
	uint32_t last;  /* the number that was added to last */
};

struct merges {
	struct word_map numbers; /* of labels; and of {label, measure}, for large labels */
	struct {
		ARRAY(struct merge_label);
	} labels;
	uint32_t label; /* the label that was looked up last */
	ARRAY(struct merged);
};

/* There is one more thing of that name. Labels are compared by address. False without memory. */
bool merges_member(struct merges *merges, const struct name *label, enum merge_side side);

/* A number of a member; unmeasured ones may be handed in. */
bool merges_add(struct merges *merges, const struct name *name, const struct measure *measure,
		enum merge_side side, enum merge merge, struct reading reading);

/* Add the rows of all to the report, label by label: those with most of `leading` now first;
 * without it (NULL) those of groups in their order, others by name. */
bool merges_rows(struct merges *merges, struct report *report, const struct measure *leading);

void merges_deinit(struct merges *merges);

#endif
