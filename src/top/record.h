/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `ctprof top --record`: each window a capture with the state times in it, into a recording.
 *
 *	struct error *err = top_recorder_open(&options, &recorder);
 *	top_recorder_take(recorder, &reading);		after each reading, the first one too
 *	int status = top_recorder_close(recorder);
 *
 * A capture takes longer than a window may wait, or a key: it is made, packed and written by a
 * thread beside. One that is not done when the next reading comes leaves that one out; nothing is
 * lost of the times, which go on from the first reading.
 */
#ifndef TOP_RECORD_H
#define TOP_RECORD_H

#include "capture/capture.h"
#include "snapshot/captures.h"
#include "state/reading.h"

struct top_record_options {
	const char *directory;
	const char *engine;             /* its name */
	struct capture_options capture; /* what it points to must stay */
	struct keep keep;
};

struct top_recorder;

/* Fails where there can be no recording. Call it when the engine is open. */
struct error *top_recorder_open(const struct top_record_options *options,
				struct top_recorder **ret) MUST_CHECK;

/* The reading may be used again at once. */
void top_recorder_take(struct top_recorder *recorder, const struct state_reading *reading);

/* The status of the recorder; `problem` is the reason of the last failure. */
struct top_recorder_status {
	size_t written, failed;
	char problem[256];
};
void top_recorder_look(struct top_recorder *recorder, struct top_recorder_status *ret);

/* Waits for what is under way, says on standard error what became of all, and returns the exit
 * status. Takes NULL. */
int top_recorder_close(struct top_recorder *recorder);

#endif
