/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which differences between two sides of profiles are real, and which may be chance.
 *
 *	err = flame_create_diff(&after, &before, &view, &flame);
 *	...
 *	const struct flame_change *change = &flame->changes->nodes[node];
 *	if (change->is_known)
 *		...		it grew to change->low ... change->high times what it was
 *
 * Totals of profiles are compared as they are, as in every difference.
 *
 * Several profiles on a side (of equal length, as those of `profile --interval`) are runs: the
 * means of both sides differ by Welch's test (statistics/statistics.h). The variance of a side is
 * at least that of sampling, and at least that of a spread of FLAME_SPREAD_LEAST of the mean, for
 * clocks and interrupts differ between any two runs. A single profile on one side has the variance
 * of the other side's runs.
 *
 * One profile on each side shows how much its times vary only in part, so this is an approximation:
 * time is taken to come in pieces that are independent of each other, of which either side has a
 * Poisson number, so that the comparison is one of two counts. Pieces are
 *
 *	off the CPU	as long as the longest wait of that thread with that stack,
 *	on the CPU	twice as long as the thread runs between two sleeps, but at least one
 *			sample, and at most FLAME_BURST_MOST;
 *
 * and they are longer where threads of one name differ more from each other than that explains.
 * What differs between runs as a whole (load, caches, frequency of the CPU) is in none of them.
 *
 * Tested are nodes of the tree, functions wherever they are called, and groups. What has too little
 * time to show any difference is left out, by the time of both sides together, which does not tell
 * which has more: from the root on, a tree is tested as far as its frames are wide. What has the
 * same times as another is tested once. All tests together are adjusted by Benjamini and Hochberg:
 * of all differences that are known, at most FLAME_RATE are expected to be chance, and where
 * nothing differs, at most that share of comparisons knows any.
 */
#ifndef PROFILE_FLAME_CHANGE_H
#define PROFILE_FLAME_CHANGE_H

#include "profile/flame.h"

#define FLAME_RATE         0.05
#define FLAME_LEVEL        0.95 /* of intervals */
#define FLAME_SPREAD_LEAST 0.001
#define FLAME_BURST_MOST   (NS_PER_S / 10)

struct flame_change {
	double before, after; /* ns or hits; means over the profiles of each side */
	double low, high;     /* the interval that has after / before; `high` may be infinite */
	double p, q;          /* of no difference; `q` is adjusted for all tests */
	bool is_tested;       /* there is enough time: else `p` and `q` are 1 */
	bool is_known;        /* q is at most FLAME_RATE */
	/* Of nodes: pictures do not draw it grey. It is known, or has most of the difference of a
	 * function that is known to differ. */
	bool is_coloured;
};

/* Kinds of time. If a flame has time on and off the CPU, functions have each kind. */
enum flame_time { FLAME_TIME_ALL, FLAME_TIME_CPU, FLAME_TIME_OFF, FLAME_TIMES };

/* A function, wherever it is called, or a group (FLAME_GROUPS) with all of its stacks. */
struct flame_subject {
	const struct flame_face *face; /* of the first node that has its name */
	uint32_t node;                 /* that one */
	bool is_group;
	bool has[FLAME_TIMES]; /* FLAME_TIME_ALL always */
	struct flame_change changes[FLAME_TIMES];
};

/* A difference that is known, for which other differences that are known need no cause of their
 * own: those of its callers, and of what it calls. */
struct flame_finding {
	uint32_t subject;
	enum flame_time time;
	size_t related; /* such other functions and groups */
};

struct flame_changes {
	size_t before_count, after_count; /* profiles */
	bool is_approximate;              /* one on each side */
	bool has_cpu, has_off;            /* the kinds of time that occur */
	size_t test_count;                /* different ones */
	struct flame_change *nodes;       /* of each node, of FLAME_TIME_ALL */
	size_t known_nodes;
	struct {
		ARRAY(struct flame_subject);
	} subjects;
	struct {
		ARRAY(struct flame_finding);
	} findings; /* the largest first */
};

/* Takes NULL. */
void flame_changes_destroy(struct flame_changes *changes);

/* The change in percent: 5.1 is 5.1 % more; infinite where there was nothing before. */
double flame_change_percent(const struct flame_change *change);

#endif
