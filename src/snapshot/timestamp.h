/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timestamps in a recording, as users write them: the T of DIR@T.
 *
 *	first last            the first and the last capture
 *	-5m -90s              before the last
 *	12:30 12:30:05        a time of day, on the last day on which the recording has it
 *	2026-11-20T12:30:05   a date and a time (also "2026-11-20 12:30:05")
 *	1795177805            seconds since 1970
 *
 * Times are in UTC, as in all reports; "Z" or " UTC" may follow. Seconds may have a fraction;
 * without one, a timestamp stands for the whole second, as reports print it.
 */
#ifndef SNAPSHOT_TIMESTAMP_H
#define SNAPSHOT_TIMESTAMP_H

#include "base/error.h"
#include "base/text.h"
#include "snapshot/captures.h"

/* Longer texts are invalid. */
#define TIMESTAMP_TEXT_MAX 63

enum timestamp_kind {
	TIMESTAMP_FIRST,
	TIMESTAMP_LAST,
	TIMESTAMP_BEFORE_LAST, /* by `ms` */
	TIMESTAMP_OF_DAY,      /* `ms` since midnight */
	TIMESTAMP_AT,          /* `ms` since 1970 */
};

struct timestamp {
	enum timestamp_kind kind;
	bool fraction; /* else it stands for the whole second */
	uint64_t ms;
};

/* "2026-11-20T12:30:05.250Z", with its NUL. */
#define TIMESTAMP_TEXT_SIZE sizeof("2026-11-20T12:30:05.250Z")
void timestamp_print(char buffer[TIMESTAMP_TEXT_SIZE], uint64_t at_ms);

/* Returns false for an invalid timestamp. */
bool timestamp_parse(struct text text, struct timestamp *ret);

/* Pick the last capture that is not after the timestamp. `captures` are in the order in which they
 * were made, and not empty. A timestamp before the first or after the last picks none. */
enum timestamp_picked { TIMESTAMP_PICKED, TIMESTAMP_TOO_EARLY, TIMESTAMP_TOO_LATE };
enum timestamp_picked timestamp_pick(const struct timestamp *timestamp,
				     const struct captures *captures, size_t *ret);

#endif
