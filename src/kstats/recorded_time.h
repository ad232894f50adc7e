/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a metric has recorded since it was made or last emptied: its values by this time are its
 * rate. Part of pinned maps and of shared memory, so it depends on nothing else.
 */
#ifndef KSTATS_RECORDED_TIME_H
#define KSTATS_RECORDED_TIME_H

#ifndef __bpf__
#include <linux/types.h>
#endif

struct kstats_recorded_time {
	__u64 began_ns;  /* since the epoch: when it was made or last emptied; 0: unknown */
	__u64 before_ns; /* recorded before it was last started */
	__u64 since_ns;  /* CLOCK_MONOTONIC: when it was last started; 0: it is stopped */
};

struct kstats_now {
	__u64 epoch_ns, monotonic_ns;
};

/* It is made, or emptied. */
static inline void kstats_recorded_begin(struct kstats_recorded_time *time, int is_active,
					 struct kstats_now now)
{
	time->began_ns = now.epoch_ns;
	time->before_ns = 0;
	time->since_ns = is_active ? now.monotonic_ns : 0;
}

/* What others wrote may be of the future: 0. */
static inline __u64 kstats_recorded_ns(const struct kstats_recorded_time *time,
				       struct kstats_now now)
{
	if (!time->since_ns)
		return time->before_ns;
	return now.monotonic_ns > time->since_ns
		       ? time->before_ns + (now.monotonic_ns - time->since_ns)
		       : 0;
}

/* It is started or stopped; or stays so. */
static inline void kstats_recorded_switch(struct kstats_recorded_time *time, int is_active,
					  struct kstats_now now)
{
	time->before_ns = kstats_recorded_ns(time, now);
	time->since_ns = is_active ? now.monotonic_ns : 0;
}

#endif
