/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows of a recording, one for each two captures that follow each other: forth, back, to a time.
 *
 *	struct replay *replay;
 *	struct error *err = replay_open("DIR@12:30", &options, &replay);
 *	do {
 *		err = replay_window(replay, &window);
 *	} while (!err && replay_step(replay, 1));
 *	replay_close(replay);
 *
 * Recordings of `ctprof top` have state times, and say what it said. Those of `ctprof capture` have
 * what the kernel counts: top/counter_times.h says what follows from that. A recording may have
 * captures of both kinds. Captures follow each other by the time since boot, where the clock of the
 * day, by which they are named, was set while they were made. Threads that ended before the capture
 * at the end of a window are not in it.
 */
#ifndef TOP_REPLAY_ENGINE_H
#define TOP_REPLAY_ENGINE_H

#include "snapshot/model.h"
#include "snapshot/recording.h"
#include "state/window.h"
#include "top/engine.h"

struct replay;

/* `recording` is DIR, from its first window on, or DIR@T: from the window on that ended at T, or
 * before it. Of `options` count the targets, which must stay. */
struct error *replay_open(const char *recording, const struct engine_options *options,
			  struct replay **ret) MUST_CHECK;

/* The same of an open recording, which is the replay's from then on, also after an error. */
struct error *replay_open_recording(struct recording recording,
				    const struct engine_options *options,
				    struct replay **ret) MUST_CHECK;

/* The number of windows, at least one; and the current one, from 0 on. Captures that cannot be read
 * are left out when they are found: a window then spans the captures around them. */
size_t replay_count(const struct replay *replay);
size_t replay_at(const struct replay *replay);

/* Are its threads those of several hosts? */
bool replay_has_hosts(const struct replay *replay);

/* The window it is at. It and all in it live until the next call. */
struct error *replay_window(struct replay *replay, struct state_window *ret) MUST_CHECK;

/* A window by its number, for history, without moving the replay. It lives until the next call.
 * NULL in *ret: a capture was left out, so the numbers have changed. */
struct error *replay_window_at(struct replay *replay, size_t number,
			       const struct state_window **ret) MUST_CHECK;

/* A thread in the captures at both ends of the last window that was read; NULL where a capture does
 * not have it. Valid until the next window is read. */
struct replay_thread {
	const struct ctprof_thread *before, *now;
};
struct error *replay_thread(struct replay *replay, uint64_t id,
			    struct replay_thread *ret) MUST_CHECK;
/* The whole capture at its end. */
const struct ctprof_snapshot *replay_capture(const struct replay *replay);

/* Move by a number of windows. False: there is no such window, and the replay does not move. */
bool replay_step(struct replay *replay, int by);

/* To the window that ended at this time, or before it: "12:30:05", "-5m", "first"
 * (snapshot/timestamp.h). */
struct error *replay_jump(struct replay *replay, const char *to) MUST_CHECK;

/* Facts of the last window that was read; unknown values are negative, or 0 CPUs. */
struct replay_facts {
	const char *engine; /* which told the states then; "captures": what they count */
	unsigned cpus;
	double load[3];
	double psi[3];    /* some avg10 of cpu, memory, io, in percent */
	const char *note; /* what else should be known, or NULL */
	/* Captures that could not be read so far, and why the last one of them could not; NULL:
	 * there is none. */
	size_t left_out;
	const char *problem;
};
const struct replay_facts *replay_facts(const struct replay *replay);

/* Takes NULL. */
void replay_close(struct replay *replay);
DEFINE_CLEANUP(replay_close, struct replay *)

#endif
