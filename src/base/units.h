/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers with their unit, as people read and write them.
 *
 * A value climbs its unit's ladder while it is at least one step of the next rung: 1234567 ns is
 * "1.235ms", 999 ns is "999ns". Stepped values carry three decimals, unstepped ones are exact.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum unit {
	UNIT_NONE,
	UNIT_COUNT,
	UNIT_NS,
	UNIT_US,
	UNIT_MS,
	UNIT_TICKS, /* 1/100 s, as the kernel shows times on x86 and arm (USER_HZ); people see s */
	UNIT_BYTES,
	UNIT_KIB,
	UNIT_PERCENT, /* in hundredths of a percent */
};

#define NS_PER_S    UINT64_C(1000000000)
#define TICKS_PER_S 100u
#define NS_PER_TICK (NS_PER_S / TICKS_PER_S)
_Static_assert(60 * NS_PER_S > UINT32_MAX, "five seconds do not fit into 32 bits");

/* Values of one dimension can be compared with each other. */
enum dimension {
	DIMENSION_TIME,
	DIMENSION_BYTES,
	DIMENSION_COUNT, /* of things */
	DIMENSION_OTHER,
	DIMENSIONS
};
enum dimension unit_dimension(enum unit unit);

/* The size of `unit` in the smallest unit of its dimension: 1000000 (ns) for UNIT_MS. */
uint64_t unit_scale(enum unit unit);

/* The name programs read: "ns", "bytes", "count"; "" for UNIT_NONE. */
const char *unit_name(enum unit unit);

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

/* A length of time in the two largest units that it has: "12.3 s", "5 min 3 s", "3 d 4 h". Takes
 * seconds that are not negative; room for UNITS_TEXT_MAX. */
char *units_format_span(char *buffer, double seconds);

/* The digits alone, exact; hundredths of a percent as "12.34". Room for UNITS_TEXT_MAX. */
char *units_digits(char *buffer, enum unit unit, __int128 value);

/* All digits of a whole number in groups of three: "1,234,567"; `sign` "+" or "" goes before what
 * is not negative. For counts that must not be rounded. Room for UNITS_TEXT_MAX. */
char *units_grouped(char *buffer, __int128 value, const char *sign);

/* A finite double in digits that read back as itself, short where that is exact. Room for
 * UNITS_TEXT_MAX. */
char *units_real_digits(char *buffer, double value);

/*
 * An amount as users write it: "10ms", "1.5MiB", "2K", "250", "5%". The value is in the smallest
 * unit of the dimension (ns, bytes, one); a percentage has `percent` set and is in percent. "us" is
 * "µs".
 */
struct amount {
	enum dimension dimension;
	bool percent;
	double value; /* finite */
};

/* After an optional sign. False when it is no such thing. */
bool units_parse(struct text text, struct amount *ret);

/* A length of time that is not negative, also in "m", "min", "h" and "d". */
bool units_parse_duration(struct text text, uint64_t *ret_ns);

/* The same, but a number without a unit is in seconds: "10", "0.5". */
bool units_parse_seconds(struct text text, uint64_t *ret_ns);

/* "s" unless there is one of them. */
static inline const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

#endif
