/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The changes between captures, for hosts with many threads of which few do something.
 *
 *	struct agent_counters *counters;
 *	err = counters_create(&counters);
 *	while (...) {
 *		err = capturer_take(capturer, &snapshot);      with counters_is_idle()
 *		if (!err)
 *			err = counters_take(counters, snapshot, &outcome);
 *		...                      the snapshot has the changes
 *	}
 *	counters_destroy(counters);
 *
 * It keeps the totals of each thread of the previous capture, packed: most are 0 and take one byte.
 * A thread whose packed totals are the same as before did nothing.
 *
 * Changes are never negative: if the kernel takes back a part of a time that it had estimated, the
 * change is 0 until the total has caught up. So the changes of a thread over all intervals add up
 * to what its totals grew by.
 */
#ifndef AGENT_COUNTERS_H
#define AGENT_COUNTERS_H

#include "profile/profile.h"
#include "snapshot/model.h"

struct agent_counters;

struct counters_outcome {
	bool is_first;    /* there was no previous capture of this boot: no changes are known */
	uint64_t threads; /* all that were captured */
	uint64_t ended;   /* threads that are gone: their last changes are not known */
	uint64_t without_past; /* threads that began earlier but were not in the previous capture */
};

struct error *counters_create(struct agent_counters **ret) MUST_CHECK;

/*
 * Replace the totals of threads, cgroups and pressure by their changes since the previous call, and
 * drop threads and cgroups without any. All other values stay as captured, among them states
 * (state_*_ns) and `thread_count`. Totals of threads that began since then are changes from 0.
 *
 * memory.stat and memory.events of cgroups stay as they are. A cgroup that was not in the previous
 * capture is left out, since it may be older.
 */
struct error *counters_take(struct agent_counters *counters, struct ctprof_snapshot *snapshot,
			    struct counters_outcome *ret) MUST_CHECK;

/*
 * Has a thread of the capture that is being made done nothing since the previous one? Then what is
 * known of it is kept, and the caller leaves it out of the snapshot that counters_take() gets next;
 * counters_forget_idle() where that capture fails.
 */
bool counters_is_idle(struct agent_counters *counters, const struct ctprof_thread *thread);
void counters_forget_idle(struct agent_counters *counters);

/* The bytes that are kept for the next call. */
size_t counters_memory(const struct agent_counters *counters);

/* Takes NULL. */
void counters_destroy(struct agent_counters *counters);
DEFINE_CLEANUP(counters_destroy, struct agent_counters *)

/* Put the times of an interval by state (profile/thread_states.h) into the threads of a capture
 * that was made at its end, as captures of `top --record` have them. */
struct error *counters_put_states(const struct profile *profile,
				  struct ctprof_snapshot *snapshot) MUST_CHECK;

#endif
