/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The arithmetic of an interval off the CPU, compiled for both sides: BPF programs use it when an
 * interval ends, and a reading uses it for the intervals that are still in progress, so that both
 * divide and weigh an interval in the same way.
 *
 * An interval begins when a thread leaves its CPU and ends when the thread gets one. A wake-up
 * divides it: the thread was blocked before and runnable after.
 */
#ifndef SCHED_INTERVAL_H
#define SCHED_INTERVAL_H

#ifdef __bpf__
#include "bpf/task.bpf.h"
#define INTERVAL_INLINE static __always_inline
#else
#include <linux/types.h>
#include <stdbool.h>
#define INTERVAL_INLINE static inline
#endif

struct interval {
	__u64 blocked_ns, runnable_ns;
};

/*
 * Divide the interval from `since` to `until` (CLOCK_MONOTONIC, since <= until) at the wake-up.
 * `is_runnable`: the thread could run from the start, as when it was preempted. A wake-up that is
 * not inside of the interval belongs to another one, and is ignored: records keep the last wake-up,
 * which may be that of an earlier interval.
 */
INTERVAL_INLINE struct interval interval_divide(bool is_runnable, __u64 since, __u64 woken,
						__u64 until)
{
	struct interval parts = { 0 };
	__u64 all = until - since;

	if (is_runnable)
		parts.runnable_ns = all;
	else if (woken > since && woken < until)
		parts.runnable_ns = until - woken;
	parts.blocked_ns = all - parts.runnable_ns;
	return parts;
}

/* --- sampling --- */

/* The number of times that a sum with remainder `*debt` crosses the period when `ns` are added. The
 * new remainder becomes the debt. */
INTERVAL_INLINE __u64 interval_periods(__u64 *debt, __u64 ns, __u64 period_ns)
{
	__u64 sum = *debt + ns, times;

	if (sum < period_ns) {
		*debt = sum;
		return 0;
	}
	times = sum / period_ns;
	*debt = sum - times * period_ns;
	return times;
}

/* Scale `ns`, where one interval stands for scale/1000 of them. Above 2^44 ns (4.9 hours) the
 * product would overflow, and a microsecond of precision is dropped instead. */
INTERVAL_INLINE __u64 interval_scale(__u64 ns, __u64 scale)
{
	return ns < 1ull << 44 ? ns * scale / 1000 : ns / 1000 * scale;
}

#endif
