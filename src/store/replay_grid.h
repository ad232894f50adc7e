/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The windows of a replay: which intervals of which hosts each has.
 *
 *	struct replay_grid grid = { 0 };
 *	array_push(&grid.intervals, interval);
 *	...
 *	err = replay_grid_make(&grid, hosts);
 *	replay_grid_deinit(&grid);
 *
 * Of one host, each interval is a window. Those of several hosts begin at different seconds, and
 * may differ in length. There windows are the cells of a grid, of which an interval belongs to the
 * one that has its middle: to exactly one, so nothing is counted twice, and nothing is lost. Cells
 * are as long as the usual interval of the host that has the longest, and begin as far from all
 * middles as possible. So as a rule, each host has an interval in each window. Cells without any
 * interval are left out.
 */
#ifndef STORE_REPLAY_GRID_H
#define STORE_REPLAY_GRID_H

#include "base/array.h"
#include "base/error.h"

#define REPLAY_HOSTS_MOST 100

struct replay_interval {
	uint64_t begun_s; /* Unix time */
	uint32_t ms, host;
};

struct replay_window {
	uint64_t begin_ms, end_ms; /* Unix time */
	uint64_t length_ns;        /* of all windows up to this one */
	/* Its rows are those before this, and not in the window before: of one host by the second
	 * at which their interval begins, of several by the middle of that in milliseconds. */
	uint64_t rows_end;
	uint64_t hosts[(REPLAY_HOSTS_MOST + 63) /
		       64]; /* a bit for each that has an interval in it */
};

struct replay_grid {
	struct {
		ARRAY(struct replay_interval);
	} intervals; /* to be filled by the caller; by host, then by time */
	struct {
		ARRAY(struct replay_window);
	} windows;           /* by time; `begin_ms` is not before the last one's `end_ms` */
	uint32_t longest_ms; /* of intervals */
	bool is_by_middle;   /* of several hosts */
};

/* Make the windows of all intervals, and free these. Hosts are numbers below `hosts`, which is at
 * most REPLAY_HOSTS_MOST. */
struct error *replay_grid_make(struct replay_grid *grid, size_t hosts) MUST_CHECK;

static inline bool replay_window_has(const struct replay_window *window, size_t host)
{
	return window->hosts[host / 64] >> host % 64 & 1;
}

void replay_grid_deinit(struct replay_grid *grid);

#endif
