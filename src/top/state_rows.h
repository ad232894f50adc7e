/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State times in captures: what an engine reads is put into the threads of a capture that was made
 * right after it, and read from there again.
 *
 *	state_rows_join(&reading, &watch, snapshot);
 *	...
 *	if (state_rows_watch(snapshot, &watch))
 *		err = state_rows_read(snapshot, &names, &reading);
 *
 * The rows of metrics.def are those of state/state.h in their order. There, and in all outputs, a
 * state includes its parts; here, and in readings, it has only the time that is in none of its
 * parts.
 *
 * A thread that ended before the capture is in no capture, and neither are its times since the
 * previous capture.
 */
#ifndef TOP_STATE_ROWS_H
#define TOP_STATE_ROWS_H

#include "snapshot/model.h"
#include "state/reading.h"

/* The recorder that counted the times: times of two recorders cannot be subtracted. */
struct state_watch {
	const char *engine; /* its name; lives as long as the snapshot that it was read from */
	uint64_t begun_ns;  /* CLOCK_MONOTONIC: when it began to watch */
};

/*
 * Into the threads that both have. `boot_ns` is CLOCK_BOOTTIME as of the reading: a thread that
 * began after it is another one that has its number.
 */
struct error *state_rows_join(const struct state_reading *reading, const struct state_watch *watch,
			      uint64_t boot_ns, struct ctprof_snapshot *snapshot) MUST_CHECK;

/* False: the capture has no state times. */
bool state_rows_watch(const struct ctprof_snapshot *snapshot, struct state_watch *ret);

/* The threads that have state times, as of the reading that they are of. Names are interned in
 * `names`. `ret` is {0}, or one that is used again. */
struct error *state_rows_read(const struct ctprof_snapshot *snapshot, struct names *names,
			      struct state_reading *ret) MUST_CHECK;

/* --- what captures say of any thread --- */

/* An id that is unique among all captures of a boot, and of 256 hosts; if captures lack the start
 * time, the thread's number. */
uint64_t state_rows_id(const struct ctprof_thread *thread);

/* Numbers, names, cgroup, user, CPU, in a thread that is else {0}. False without memory. */
struct state_processes;
bool state_rows_describe(const struct state_processes *processes,
			 const struct ctprof_thread *thread, struct names *names,
			 struct state_thread *ret);

/* The processes of a capture by number, for that. */
struct state_processes {
	const struct process *items; /* by number, then by host */
	size_t count;
};
struct state_processes state_rows_processes(const struct ctprof_snapshot *snapshot);

#endif
