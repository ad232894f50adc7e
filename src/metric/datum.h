/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One value of a report, with its type and how much of it was measured: the common form of what
 * groups of threads add up to, of derived metrics, and of the numbers of cgroups and of the host.
 *
 *	struct datum_change change;
 *	datum_compare(&before, &after, &change);
 *	if (change.has_delta)
 *		...
 *
 * Whole numbers are exact, differences too.
 */
#ifndef METRIC_DATUM_H
#define METRIC_DATUM_H

#include "base/names.h"
#include "base/text.h"

enum datum_kind {
	DATUM_NONE,      /* not measured */
	DATUM_NUMBER,    /* whole */
	DATUM_REAL,      /* a quotient; finite */
	DATUM_RANGE,     /* smallest to largest */
	DATUM_CATEGORY,  /* the most frequent one, or a text */
	DATUM_CPUS,      /* CPU sets */
	DATUM_UNLIMITED, /* a limit that is not set */
	DATUM_NO_EVENTS, /* the smallest of nothing */
};

struct datum {
	enum datum_kind kind;
	bool partial;   /* not measured in every thread that can have it */
	uint8_t inputs; /* of a sum of DATUM_INPUTS things: which were measured, a bit for each;
			   else 0 */
	uint32_t measured, threads; /* how many had it, of how many; 0 of 0 outside threads */
	uint32_t impossible;        /* threads with an impossible value */
	union {
		__int128 number;
		double real;
		struct {
			int64_t smallest, largest;
		} range;
		struct {
			const char *text; /* ends in a NUL */
			uint32_t agree;   /* threads that are of this category */
		} category;
		struct {
			const struct name *set; /* what all have; NULL when they differ */
			uint32_t fewest, most;  /* CPUs */
		} cpus;
	};
};

#define DATUM_INPUTS 8

static inline struct datum datum_number(__int128 number)
{
	return (struct datum){ .kind = DATUM_NUMBER, .number = number };
}

/* A category of something that is no group; NULL is not measured. The text stays the caller's. */
static inline struct datum datum_text(const char *text)
{
	return (struct datum){ .kind = text ? DATUM_CATEGORY : DATUM_NONE,
			       .category = { .text = text } };
}

/* The difference of two data. */
struct datum_change {
	bool has_delta; /* there is a difference as a number */
	bool real;      /* it is in `delta`, else in `twice` */
	bool differs;   /* they are not the same, of whatever kind */
	__int128 twice; /* candidate less baseline, times two: ranges have their midpoint */
	double delta;   /* the same as a double, always filled in */
	bool has_share;
	double share; /* of the size of the baseline: 0.5 is half more; infinite from zero */
};

/*
 * Sums and peaks differ by their values, ranges by their midpoints, CPU sets that all agree on by
 * their number of CPUs. A side that was measured in part, or not at all, or is no number, has no
 * difference; nor have sums of different things, and ranges or CPU sets that differ around the same
 * middle.
 */
void datum_compare(const struct datum *baseline, const struct datum *candidate,
		   struct datum_change *ret);

/* Are both the same value, of the same kind? How much was measured does not matter. */
bool datum_equal(const struct datum *x, const struct datum *y);

/* Is it a number that is zero, or has it no value? */
bool datum_is_nothing(const struct datum *datum);

/* The value as one number, for ranking; false when it is none. */
bool datum_magnitude(const struct datum *datum, double *ret);

#endif
