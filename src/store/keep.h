/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long rows are kept.
 */
#ifndef STORE_KEEP_H
#define STORE_KEEP_H

#include "base/error.h"

/* KEEP(id, name, days, partition): a partition is what is dropped at once. Stacks, hosts and labels
 * are kept as long as rows of HOUR. */
#define STORE_KEEPS(KEEP)                      \
	KEEP(RAW, "raw", 14, "toYYYYMMDD")     \
	KEEP(MINUTE, "minute", 90, "toYYYYMM") \
	KEEP(HOUR, "hour", 400, "toYYYYMM")

enum store_keep {
#define KEEP_ENUM(id, ...) STORE_KEEP_##id,
	STORE_KEEPS(KEEP_ENUM)
#undef KEEP_ENUM
		STORE_KEEP_COUNT
};

struct store_keep_row {
	const char *name;
	unsigned days; /* the default */
	const char *partition;
};
extern const struct store_keep_row store_keeps[STORE_KEEP_COUNT];

/* The most days: DateTime ends in 2106. */
#define STORE_KEEP_DAYS_MOST 20000

/* "raw=7d,minute=30d,hour=1000d": any of these, each once, in whole days. What is not named stays
 * as it is in `days`, 0 for what a server has, or the default. */
struct error *store_keep_parse(const char *text, unsigned days[STORE_KEEP_COUNT]) MUST_CHECK;

/* An error if rows would be kept for longer than the stacks and hosts that they refer to. A time of
 * 0 is not known, and not compared. */
struct error *store_keep_check(const unsigned days[STORE_KEEP_COUNT]) MUST_CHECK;

#endif
