/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of a host's threads from the beginning of a query up to a time, for a replay. The next time
 * is usually one interval later: then only its rows are read, and added.
 *
 *	struct replay_sums sums = { .url = &url };
 *	err = replay_sums_move(&sums, store, end_s, end_ns);
 *	err = replay_sums_copy(&sums, snapshot);
 *	replay_sums_deinit(&sums);
 */
#ifndef STORE_REPLAY_SUMS_H
#define STORE_REPLAY_SUMS_H

#include "base/word_map.h"
#include "snapshot/model.h"
#include "store/query.h"

struct replay_sums {
	const struct store_url *url; /* set by the caller, who keeps it */
	uint64_t end_s;              /* rows before are in the sums; 0: none are */
	uint64_t end_ns;             /* the length of their intervals */
	/* Threads with totals, by tgid, tid and start. NULL: none yet. */
	struct ctprof_snapshot *snapshot;
	struct word_map numbers;
	struct {
		MAP(uint32_t, uint32_t);
	} uids; /* by tgid */
};

/* Let them be the sums of the rows before `end_s`, of which the intervals are `end_ns` long. After
 * an error there are none. */
struct error *replay_sums_move(struct replay_sums *sums, struct store *store, uint64_t end_s,
			       uint64_t end_ns) MUST_CHECK;

/* Add the threads, in the order of their processes, and these to an empty snapshot. */
struct error *replay_sums_copy(const struct replay_sums *sums,
			       struct ctprof_snapshot *snapshot) MUST_CHECK;

void replay_sums_deinit(struct replay_sums *sums);

#endif
