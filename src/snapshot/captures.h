/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sequence of captures, in the directory of a recording or packed in memory, and the limits on
 * how many are kept.
 *
 *	struct captures ring = { 0 };
 *	if (!captures_add(&ring, (struct capture_kept){ at_ms, size, packed }))
 *		return &error_no_memory;
 *	captures_drop(&ring, captures_surplus(&ring, &keep, at_ms));
 *	captures_deinit(&ring);
 *
 * Times are milliseconds since 1970. The clock may be set back: captures are in the order in which
 * they were added, so that the oldest are still removed first.
 */
#ifndef SNAPSHOT_CAPTURES_H
#define SNAPSHOT_CAPTURES_H

#include "base/array.h"

/* Limits on what is kept; 0 is no limit. */
struct keep {
	uint64_t age_ms;
	uint64_t bytes;
};

struct capture_kept {
	uint64_t at_ms;
	uint64_t size; /* in bytes, compressed */
	char *packed;  /* the bytes, owned; NULL: they are in a file */
};

/* All zero is none. */
struct captures {
	ARRAY(struct capture_kept);
	uint64_t size; /* of all of them */
};

/* Owns `capture.packed` from then on. False without memory, and nothing is owned. */
bool captures_add(struct captures *captures, struct capture_kept capture);

/* Sort by time, if they were added in any order. */
void captures_sort(struct captures *captures);

/* The number of oldest captures beyond `keep` at `now_ms`. Never all: a limit below the size of one
 * keeps one. */
size_t captures_surplus(const struct captures *captures, const struct keep *keep, uint64_t now_ms);

/* Forget the first `count`. */
void captures_drop(struct captures *captures, size_t count);

/* The smallest and the largest time, of at least one capture. */
void captures_range(const struct captures *captures, uint64_t *ret_first, uint64_t *ret_last);

/* The one nearest to this time and not after it; of the same time the last. False when all are
 * later. */
bool captures_at(const struct captures *captures, uint64_t at_ms, size_t *ret);

/* The last one at or before this time, wherever the clock was before it was set. False when all are
 * later. */
bool captures_back_to(const struct captures *captures, uint64_t at_ms, size_t *ret);

void captures_deinit(struct captures *captures);

#endif
