/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile as one tree of functions with times: what pictures and tables of stacks are made of.
 *
 *	struct flame_view view = { .classes = FLAME_OFF_CPU, .group_by = FLAME_BY_PROCESS };
 *	struct flame *flame;
 *	struct error *err = flame_create(profile, NULL, &view, &flame);
 *	...
 *	flame_destroy(flame);
 *
 * Siblings have different names; the tree forgets what a view does not show (addresses, lines).
 * With two profiles every node has the values of both, and their stacks are one tree.
 */
#ifndef PROFILE_FLAME_H
#define PROFILE_FLAME_H

#include "profile/idle.h"
#include "profile/profile.h"

/* Below the root come the groups: FLAME_GROUP(id, name, what a group is). */
#define FLAME_GROUPS(GROUP)                                                   \
	GROUP(NONE, "none", "not at all: all stacks together")                \
	GROUP(CPU, "cpu", "CPU that the thread was on, or left")              \
	GROUP(PROGRAM, "program", "program: the name of the process")         \
	GROUP(PROCESS, "process", "process: name and PID")                    \
	GROUP(THREAD, "thread", "thread: process, then name and TID")         \
	GROUP(CGROUP, "cgroup", "cgroup path")                                \
	GROUP(REASON, "reason", "why it waited: lock, storage, network, ...") \
	GROUP(STATE, "state", "state of the kernel's scheduler: on-cpu, runnable, ...")

enum flame_group {
#define GROUP_ENUM(id, name, prose) FLAME_BY_##id,
	FLAME_GROUPS(GROUP_ENUM)
#undef GROUP_ENUM
		FLAME_GROUP_COUNT
};
extern const char *const flame_group_names[FLAME_GROUP_COUNT];

#define FLAME_ALL     ((1u << CLASS_COUNT) - 1)
#define FLAME_ON_CPU  (1u << CLASS_ON_CPU)
#define FLAME_EVENTS  (1u << CLASS_EVENT)
#define FLAME_OFF_CPU (FLAME_ALL & ~(FLAME_ON_CPU | FLAME_EVENTS))

/* A view of stacks; the groups above are its first level. */
struct flame_view {
	unsigned classes; /* a bit for each enum profile_class; 0: all that has time, or else events
			   */
	enum flame_group group_by;
	bool offsets;    /* functions with the offset of the instruction: "read+0x1a" */
	bool no_inlined; /* leave inlined frames out */
	/* The waits of `profile` that are idle, which are left out, or are one frame of FRAME_IDLE
	 * below the root; NULL: they are shown as others. Not for differences. */
	const struct idle *idle;
	bool folds_idle;
};

/* The appearance of nodes. A profile has few functions and many nodes, which share these. */
struct flame_face {
	const struct name *name;   /* as shown; lives as long as the flame */
	const struct name *module; /* of the first frame that became it; may be NULL */
	enum frame_kind kind;
	bool inlined;
};

/* A value with all that a node called, and without. */
struct flame_value {
	uint64_t total, self;
};

struct flame_node {
	uint32_t parent;      /* NODE_NONE of the root */
	uint32_t first_child; /* children by name; NODE_NONE: none */
	uint32_t next;        /* sibling; NODE_NONE: the last one */
	uint32_t depth;       /* 0 of the root */
	uint32_t face;        /* in `faces` */
	uint8_t state;        /* enum state: of the largest sample, of it and what it called */
	/* With all that it called, of the candidate; one profile is the candidate. */
	uint64_t count; /* stretches, samples or hits */
	uint64_t total;
	uint64_t self; /* without what it called */
};

struct flame {
	struct arena arena;
	struct names names;
	struct {
		ARRAY(struct flame_face);
	} faces;
	struct {
		ARRAY(struct flame_node);
	} nodes; /* the first is the root, "all"; parents come before their children */
	/* One for each node; NULL without a baseline. */
	struct flame_value *baselines;
	/* For each node, a value for each class that occurs: time, and in CLASS_EVENT the hits; of
	 * the candidate. NULL: one class occurs, and its values are those of the nodes. */
	struct flame_value *by_class;
	unsigned class_count;
	unsigned class_column[CLASS_COUNT]; /* from 1; 0: the class does not occur */
	bool is_diff;                       /* there is a baseline */
	struct flame_changes *changes;      /* which differences are real; NULL: not asked */
	bool is_events;                     /* values are hits and not ns */
	uint32_t depth;                     /* of the deepest node */
};

static inline const struct flame_face *flame_face(const struct flame *flame,
						  const struct flame_node *node)
{
	return &flame->faces.items[node->face];
}

static inline const struct name *flame_name(const struct flame *flame,
					    const struct flame_node *node)
{
	return flame_face(flame, node)->name;
}

/* Both are 0 without a baseline. */
static inline struct flame_value flame_baseline(const struct flame *flame,
						const struct flame_node *node)
{
	return flame->baselines ? flame->baselines[node - flame->nodes.items]
				: (struct flame_value){ 0 };
}

static inline struct flame_value flame_of_class(const struct flame *flame,
						const struct flame_node *node, unsigned class)
{
	const unsigned column = flame->class_column[class];

	if (!column)
		return (struct flame_value){ 0 };
	if (!flame->by_class)
		return (struct flame_value){ node->total, node->self };
	return flame
		->by_class[(size_t)(node - flame->nodes.items) * flame->class_count + column - 1];
}

/* `baseline` may be NULL. */
struct error *flame_create(const struct profile *profile, const struct profile *baseline,
			   const struct flame_view *view, struct flame **ret) MUST_CHECK;

/* Profiles of one side, at least one: several are runs of the same, and values are their means. */
struct flame_runs {
	const struct profile *const *items;
	size_t count;
};

/* The difference of two sides, with `changes` (flame_change.h). Its view has no `idle`. */
struct error *flame_create_diff(const struct flame_runs *candidate,
				const struct flame_runs *baseline, const struct flame_view *view,
				struct flame **ret) MUST_CHECK;
/* Takes NULL. */
void flame_destroy(struct flame *flame);
DEFINE_CLEANUP(flame_destroy, struct flame *)

/* --- the same line by line --- */

/* A stack with its value, from the group to the leaf. */
struct flame_line {
	const struct flame_node *const *path; /* without the root */
	size_t depth;
	size_t shared; /* nodes from the first that the line before has too */
	uint64_t baseline, value;
};

/* Shows each node that has time of its own, or `false` from `visit` ends it. */
typedef bool flame_visit(void *context, const struct flame_line *line);
struct error *flame_each_line(const struct flame *flame, flame_visit *visit,
			      void *context) MUST_CHECK;

#endif
