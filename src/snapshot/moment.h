/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The moments of a recording as people write them: the T of DIR@T.
 *
 *	first last            the ends
 *	-5m -90s              before the last
 *	12:30 12:30:05        the clock of the day, at the last day where the recording has it
 *	2026-11-20T12:30:05   ("2026-11-20 12:30:05" too) a day and a time
 *	1795177805            seconds since 1970
 *
 * Times are of UTC, as all reports print them; "Z" or " UTC" may stand behind. Seconds may have a
 * fraction; without one the whole second is meant, as reports print it.
 */
#ifndef SNAPSHOT_MOMENT_H
#define SNAPSHOT_MOMENT_H

#include "base/error.h"
#include "base/text.h"
#include "snapshot/captures.h"

/* Longer ones are none. */
#define MOMENT_TEXT_MAX 63

enum moment_kind {
	MOMENT_FIRST,
	MOMENT_LAST,
	MOMENT_BEFORE_LAST, /* by `ms` */
	MOMENT_OF_DAY,      /* `ms` since midnight */
	MOMENT_AT,          /* `ms` since 1970 */
};

struct moment {
	enum moment_kind kind;
	bool fraction; /* else the whole second is meant */
	uint64_t ms;
};

/* "2026-11-20T12:30:05.250Z"; with the zero behind it. */
#define MOMENT_TEXT_SIZE sizeof("2026-11-20T12:30:05.250Z")
void moment_print(char buffer[MOMENT_TEXT_SIZE], uint64_t at_ms);

/* False when it is none. */
bool moment_parse(struct text text, struct moment *ret);

/* The capture nearest to the moment that is not after it; there is one at least. `captures` stand
 * in the order they were made: the first and the last are those of that. A moment beyond either end
 * is none. */
enum moment_picked { MOMENT_PICKED, MOMENT_TOO_EARLY, MOMENT_TOO_LATE };
enum moment_picked moment_pick(const struct moment *moment, const struct captures *captures,
			       size_t *ret);

#endif
