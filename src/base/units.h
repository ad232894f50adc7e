/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers with their unit, as people read them.
 *
 * A value climbs its unit's ladder while it is at least one step of the next rung: 1234567 ns is
 * "1.235ms", 999 ns is "999ns". Stepped values carry three decimals, unstepped ones are exact.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum unit { UNIT_NONE, UNIT_COUNT, UNIT_NS, UNIT_BYTES, UNIT_TICKS };

/* Big enough for any value of any unit. */
#define UNITS_TEXT_MAX 64

/* "1.235ms"; returns `buffer` of UNITS_TEXT_MAX bytes. */
char *units_format(char *buffer, enum unit unit, __int128 value);

/* The same with a sign always, "+1.235ms", "-12", "+0ns": for differences. */
char *units_format_delta(char *buffer, enum unit unit, __int128 value);

/* Half of a value where ranges have their midpoint: `twice` / 2, with ".5" when it is odd. */
char *units_format_half_delta(char *buffer, enum unit unit, __int128 twice);

/* A value that is not whole: three decimals when stepped, two when not; `sign` "+" or "" goes
 * before what is not negative. UNIT_NONE: three decimals. */
char *units_format_real(char *buffer, enum unit unit, double value, const char *sign);

/* "s" unless there is one of them. */
static inline const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

#endif
