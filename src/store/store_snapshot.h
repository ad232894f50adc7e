/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots from ClickHouse: what threads did in a time, summed over the hosts that a URL selects.
 *
 * A thread of such a snapshot is a program: all threads with one name in one process and cgroup
 * name, of one user, of all hosts; hosts are apart only with by=host. Totals are those of the time,
 * rather than since threads began; of peaks and gauges it has the largest value in the time, of
 * settings the last. thread_count is the number of different threads that did something. Waits
 * count when they end. What no thread of a program had measured is unmeasured.
 *
 * The threads of one host can also be read each by itself, with their numbers and start times.
 */
#ifndef STORE_STORE_SNAPSHOT_H
#define STORE_STORE_SNAPSHOT_H

#include "snapshot/model.h"
#include "store/query.h"

/* Most programs: more are an error. */
#define STORE_PROGRAMS_MOST UINT64_C(500000)

/* Rows of single threads are read for at most so long. */
#define STORE_THREADS_MOST_S UINT64_C(86400)

/* Fails if there are no rows of what the URL selects (errnum ENODATA), and says what there is. With
 * `by_thread`, threads are not summed up to programs, which is an error for several hosts, and for
 * a longer time. */
struct error *store_snapshot_load(struct store *store, const struct store_url *url, bool by_thread,
				  struct ctprof_snapshot **ret) MUST_CHECK;

/* Multiply all totals by times / parts, rounded: so that they are of another time of hosts, whose
 * longest is `longest_ns`. */
void store_snapshot_scale(struct ctprof_snapshot *snapshot, uint64_t times, uint64_t parts,
			  uint64_t longest_ns);

#endif
