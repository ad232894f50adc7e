/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of pairs, a pair a line: "key: value" (/proc/<tid>/{status,io,sched}, /proc/meminfo) and
 * "key value" (cpu.stat, memory.stat).
 *
 *	struct text rest = bytes, key, value;
 *	while (pairs_next(&rest, ':', &key, &value))
 *		...
 */
#ifndef OS_PAIRS_H
#define OS_PAIRS_H

#include "base/text.h"

/* The next line that has the separator, both sides trimmed; lines without one are passed over. */
bool pairs_next(struct text *rest, char separator, struct text *key, struct text *value);

/* The value of the first line with this key. */
bool pairs_find(struct text bytes, char separator, struct text key, struct text *ret);

/* "123 kB" or "123", as /proc/meminfo and smaps_rollup print sizes: the number. */
bool pairs_kib(struct text value, uint64_t *ret);

/*
 * The lines of /proc/<tid>/sched below its ruler of dashes. Above it stands the thread's name, raw:
 * one that holds newlines must not pass for a line of numbers. Without a ruler, the whole.
 */
struct text sched_body(struct text bytes);

/*
 * The last part of a key of /proc/<tid>/sched: "se.statistics.wait_sum" before Linux 5.16,
 * "stats.wait_sum" or a bare "wait_sum" after it (proc_sched_show_task() in kernel/sched/debug.c).
 * "ext.enabled" stays whole.
 */
struct text sched_key(struct text key);

enum sched_ms { SCHED_MS_OK, SCHED_MS_NEGATIVE, SCHED_MS_BAD };

/*
 * A time of /proc/<tid>/sched in nanoseconds. The kernel prints "ms.frac" with six digits of
 * fraction (SPLIT_NS), so the result is exact; a number without a point is nanoseconds already.
 * Clocks that run backwards come out negative, "-3.000000" or "0.-000500".
 */
enum sched_ms sched_ms_as_ns(struct text value, uint64_t *ret);

#endif
