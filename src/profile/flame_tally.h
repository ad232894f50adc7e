/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times that flame_change.c compares: for each node, function and group of a flame, sums over
 * the profiles of each side, and how much they vary.
 *
 * Subjects have numbers: nodes as in the flame; then for each label (a name) as a function, and
 * for each as a group, one for each kind of time.
 */
#ifndef PROFILE_FLAME_TALLY_H
#define PROFILE_FLAME_TALLY_H

#include "profile/flame_change.h"
#include "profile/flame_tree.h"

/* Of the baseline, and of the candidate. */
struct flame_tally {
	double sums[2];    /* over profiles */
	double squares[2]; /* the sums of the squares of profiles */
	/* The variance of the sums: of sampling alone; with one profile on each side, of all that
	 * it shows. */
	double noise[2];
};

struct flame_tallies {
	const struct flame *flame;
	size_t profiles[2];
	bool is_approximate;
	unsigned times;        /* kinds of time: FLAME_TIMES, or 1 if there is one */
	bool has_cpu, has_off; /* which occur */
	size_t label_count, count;
	struct flame_tally *items;     /* `count`, by subject */
	double wholes[FLAME_TIMES][2]; /* sums of all time */
	uint32_t *subject_of;          /* of a node: its function or group, or NODE_NONE */
};

static inline size_t flame_subject_count(const struct flame_tallies *t)
{
	return 2 * t->label_count;
}

static inline struct flame_tally *flame_tally_of(const struct flame_tallies *t, size_t subject,
						 unsigned time)
{
	return &t->items[t->flame->nodes.count + subject * t->times + time];
}

struct error *flame_tallies_init(struct flame_tallies *tallies,
				 const struct flame_builder *builder) MUST_CHECK;
void flame_tallies_deinit(struct flame_tallies *tallies);

#endif
