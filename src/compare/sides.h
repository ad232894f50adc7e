/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The snapshots that a report is about, and the key of each of their threads: one snapshot to show,
 * one on each side to compare, or several on each side.
 */
#ifndef COMPARE_SIDES_H
#define COMPARE_SIDES_H

#include "compare/renamed.h"
#include "compare/view.h"
#include "compare/waits.h"

/* A snapshot and the name of its file. */
struct side {
	const struct ctprof_snapshot *snapshot;
	const char *name;
};

struct sides {
	const struct view *view;
	const struct side *items; /* the caller's: baselines first */
	size_t baselines;         /* 0: there is nothing to compare with */
	size_t count;
	const struct ctprof_snapshot **snapshots;
	struct keys keys;
	uint32_t **key_of;      /* by snapshot, by thread */
	uint32_t *by_name;      /* key numbers in the order of their labels */
	struct renamed renamed; /* of the axis all */
	struct waits waits;
};

/* Bring captures of a side into the order of time. */
void sides_sort(struct side *items, size_t count);

/* Fails for what cannot be compared: threads or windows of different boots. */
struct error *sides_init(struct sides *sides, const struct view *view, const struct side *items,
			 size_t baselines, size_t count) MUST_CHECK;

void sides_deinit(struct sides *sides);

/* The option for which both sides must be of one boot, or NULL. */
const char *sides_need_one_boot(const struct sides *sides);

/* Are two snapshots of one boot of one host? */
enum boots { BOOTS_UNKNOWN, BOOTS_SAME, BOOTS_DIFFERENT };
enum boots boots_of(const struct ctprof_snapshot *a, const struct ctprof_snapshot *b);

/* Seconds from one capture to the other; negative when `b` is the older. False when a snapshot does
 * not say when it was made. By the time since boot, where both know it, since clocks are set. */
bool seconds_between(const struct ctprof_snapshot *a, const struct ctprof_snapshot *b, double *ret);

#endif
