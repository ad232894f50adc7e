/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What intervals, samples and hits are added to: counts by key, and slots of histograms.
 */
#ifndef SCHED_COUNTING_BPF_H
#define SCHED_COUNTING_BPF_H

#include "sched/profile_targets.bpf.h"

static __always_inline bool wants(__u32 class)
{
	return config.classes >> class & 1;
}

static __always_inline bool is_on_wanted_cpu(__u32 cpu)
{
	__u32 word = cpu >> 6;
	__u64 *cpus;

	if (!config.has_cpus)
		return true;
	cpus = bpf_map_lookup_elem(&wanted_cpus, &word);
	return cpus && *cpus >> (cpu & 63) & 1;
}

static __always_inline void lose(struct profile_counts *counts, __u64 ns)
{
	counts->lost++;
	counts->lost_ns += ns;
}

/* A thread's own counts are written by one CPU at a time, but for the first and for user space. */
static __always_inline void count_in(const struct count_key *key, const struct count_value *more,
				     struct profile_counts *counts)
{
	struct count_value *value = bpf_map_lookup_elem(&counted, key);

	if (!value) {
		if (!bpf_map_update_elem(&counted, key, more, BPF_NOEXIST)) {
			counts->kept++;
			return;
		}
		value = bpf_map_lookup_elem(&counted, key);
		if (!value) {
			lose(counts, more->ns + more->runnable_ns);
			return;
		}
	}
	__sync_fetch_and_add(&value->ns, more->ns);
	__sync_fetch_and_add(&value->count, more->count);
	if (more->runnable_count) {
		__sync_fetch_and_add(&value->runnable_ns, more->runnable_ns);
		__sync_fetch_and_add(&value->runnable_count, more->runnable_count);
	}
	counts->kept++;
}

static __always_inline void count_slot(__u32 thread, __u32 class, __u64 ns)
{
	struct slot_key key = { .thread = thread,
				.class = class,
				.slot = bucket_slot(ns, PROFILE_FRAC_BITS) };
	struct slot_value first = { .count = 1, .sum = ns };
	struct slot_value *value = bpf_map_lookup_elem(&slots, &key);

	if (!value) {
		bpf_map_update_elem(&slots, &key, &first, BPF_NOEXIST);
		return;
	}
	value->count++;
	value->sum += ns;
}

#endif
