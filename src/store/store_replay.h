/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The intervals of hosts in ClickHouse as a recording, which `ctprof top --replay` shows.
 *
 *	err = store_replay_open(written, now_s, &options, &recording);
 *	...
 *	recording_close(&recording);
 *
 * There is a capture at the end of each window (store/replay_grid.h). It has the threads that did
 * something since the time of the query began, and their totals since then. So the window between
 * two captures is what the rows of its intervals say; threads without a row in it did nothing.
 */
#ifndef STORE_STORE_REPLAY_H
#define STORE_STORE_REPLAY_H

#include "snapshot/recording.h"
#include "store/query.h"

/* The time of a query that can be replayed: totals of all its threads are kept. */
#define STORE_REPLAY_MOST_S UINT64_C(86400)

/* Fails if the URL selects more than REPLAY_HOSTS_MOST hosts, or more than a day. */
struct error *store_replay_open(const char *written, uint64_t now_s,
				const struct store_options *options,
				struct recording *ret) MUST_CHECK;

#endif
