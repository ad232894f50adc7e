/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What who writes a file of metrics and who reads it have in common.
 */
#ifndef KSTATS_FILE_MEMBERS_H
#define KSTATS_FILE_MEMBERS_H

#include "kstats/file.h"

#define KSTATS_FORMAT_NAME    "ctprof-kstats"
#define KSTATS_FORMAT_VERSION 1u

/* Words, each a string or null. */
#define KSTATS_FILE_WORDS(WORD) \
	WORD(instance)          \
	WORD(host)              \
	WORD(recorder)          \
	WORD(start)             \
	WORD(end)               \
	WORD(how)

#define KSTATS_FILE_NUMBERS(NUMBER) \
	NUMBER(taken_ns)            \
	NUMBER(overhead_ns)

static inline struct error *kstats_too_many_slots(void)
{
	return error_create("more than %zu slots, of all rows of all metrics",
			    KSTATS_FILE_SLOTS_MAX);
}

#endif
