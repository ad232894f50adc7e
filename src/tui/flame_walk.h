/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks over a flame (profile/flame.h): its nodes in order, a place in it that is found again in a
 * later tree, its functions, and what a search matches.
 */
#ifndef TUI_FLAME_WALK_H
#define TUI_FLAME_WALK_H

#include "profile/flame.h"

/* The node after this one, callers first, of those from `root` on; NODE_NONE: it is the last. */
uint32_t flame_next(const struct flame *flame, uint32_t root, uint32_t node);
/* The same without the callees of `node`. */
uint32_t flame_next_beside(const struct flame *flame, uint32_t root, uint32_t node);

/* Is `node` called from `caller`, or is it that? */
bool flame_is_below(const struct flame *flame, uint32_t caller, uint32_t node);

/* The callee with most time; NODE_NONE: there is none. */
uint32_t flame_widest(const struct flame *flame, uint32_t node);

/* --- a place --- */

/* The names from the root to a node. All zero is the root. */
struct flame_path {
	struct {
		ARRAY(char);
	} bytes;
	struct {
		ARRAY(size_t);
	} ends; /* of each name, in `bytes` */
};

bool flame_path_set(struct flame_path *path, const struct flame *flame, uint32_t node);
/* The node of the path, or the last of its callers that is there. */
uint32_t flame_path_find(const struct flame_path *path, const struct flame *flame);
void flame_path_deinit(struct flame_path *path);

/* --- functions --- */

struct flame_function {
	const struct name *name, *module; /* of the flame; the module may be NULL */
	enum frame_kind kind;
	uint8_t state;    /* enum state, of its largest node */
	uint32_t node;    /* that one */
	uint64_t largest; /* its value */
	/* While it ran itself, and the waits of it: also those in libraries and in the kernel that
	 * it called to wait. */
	uint64_t own;
	uint64_t total; /* a call of itself is not counted twice */
};

struct flame_functions {
	ARRAY(struct flame_function);
};

/* Those below `root`, by their own time, or by all of it: the longest first. Replaces what was
 * there. */
struct error *flame_functions_make(struct flame_functions *functions, const struct flame *flame,
				   uint32_t root, bool by_total) MUST_CHECK;

/* --- searches --- */

/* For each face, whether its name contains the text, in letters of either case; NULL without
 * memory. The caller frees it. */
bool *flame_search(const struct flame *flame, struct text text);
/* The time below `root` of what matches. */
uint64_t flame_matched(const struct flame *flame, uint32_t root, const bool *matches);

#endif
