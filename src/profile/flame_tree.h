/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a flame (flame.h) is made: flame.c drafts the tree, in which siblings have different names,
 * of groups and stacks; flame_tree.c makes its nodes, orders them, and adds up; flame_tally.c and
 * flame_change.c find out which differences of two sides are real.
 */
#ifndef PROFILE_FLAME_TREE_H
#define PROFILE_FLAME_TREE_H

#include "profile/flame.h"

/* One of the profiles that are added to the tree. */
struct flame_side {
	const struct profile *profile; /* NULL: there is none */
	bool is_baseline;
	uint32_t *faces;  /* of each frame; NODE_NONE: not asked for yet */
	uint32_t *drafts; /* of each sample: of its group at first, then its own */
	uint32_t *order;  /* samples of wanted classes, by group */
	size_t wanted;
	/* For each node of the profile, its draft for the current group, or NODE_NONE: each node is
	 * placed once per group, however many stacks share it. `touched` lists the nodes that the
	 * group has placed. */
	uint32_t *places;
	struct {
		ARRAY(uint32_t);
	} touched, path;
};

/* The state of building a tree. */
struct flame_builder {
	struct flame *flame;
	const struct flame_view *view;
	unsigned classes;
	struct flame_side *sides; /* of the baseline first */
	size_t side_count;
	struct tree_nodes drafts; /* whose frames are faces */
	struct tree_index index;  /* by the names of faces */
	struct {
		ARRAY(uint32_t);
	} labels; /* by face: the number of its name, by which siblings are told apart */
	struct {
		ARRAY(const struct name *);
	} label_names;
	struct word_map label_numbers, face_numbers;
};

/* Make the nodes of the drafts. */
struct error *flame_make_tree(struct flame_builder *builder) MUST_CHECK;

/* How many profiles the baseline has, or else the candidate. */
size_t flame_count_runs(const struct flame_builder *builder, bool is_baseline);

/* Find out which differences are real (flame_change.h), of the nodes that were made. */
struct error *flame_find_changes(struct flame_builder *builder) MUST_CHECK;

#endif
