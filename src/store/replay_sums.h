/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of threads from the beginning of a query up to a window, for a replay. The next one is
 * usually the window behind it: then only its rows are read, and added.
 *
 *	struct replay_sums sums = { .url = &url, .grid = &grid, .hosts = &hosts };
 *	err = replay_sums_move(&sums, store, window);
 *	err = replay_sums_copy(&sums, snapshot);
 *	replay_sums_deinit(&sums);
 */
#ifndef STORE_REPLAY_SUMS_H
#define STORE_REPLAY_SUMS_H

#include "base/names.h"
#include "base/word_map.h"
#include "snapshot/model.h"
#include "store/query.h"
#include "store/replay_grid.h"

/* The hosts of a replay: as bytes of the store, in their order. */
struct replay_hosts {
	struct {
		ARRAY(const struct name *);
	} items;
	struct arena arena;
	struct names names;
	struct word_map numbers; /* of names */
};

void replay_hosts_init(struct replay_hosts *hosts);
void replay_hosts_deinit(struct replay_hosts *hosts);

/* The number of a host; WORD_MAP_NEW: it is none of them. */
uint32_t replay_hosts_find(const struct replay_hosts *hosts, struct text name);

struct replay_sums {
	/* Set by the caller, who keeps them. */
	const struct store_url *url;
	const struct replay_grid *grid;
	const struct replay_hosts *hosts;
	uint64_t rows_end; /* rows before are in the sums (struct replay_window); 0: none are */
	/* Threads with totals, by host, tgid, tid and start. NULL: none yet. */
	struct ctprof_snapshot *snapshot;
	struct word_map numbers;
	struct {
		MAP(uint64_t, uint32_t);
	} uids; /* by host and tgid */
};

/* Let them be the sums of all rows up to the end of this window. After an error there are none. */
struct error *replay_sums_move(struct replay_sums *sums, struct store *store,
			       const struct replay_window *window) MUST_CHECK;

/* Add the threads, in the order of their processes, and these to an empty snapshot. */
struct error *replay_sums_copy(struct replay_sums *sums,
			       struct ctprof_snapshot *snapshot) MUST_CHECK;

void replay_sums_deinit(struct replay_sums *sums);

#endif
