/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Who ran while a thread waited for its CPU: the last runs of each CPU, and the part of the wait
 * that each of them took.
 */
#ifndef SCHED_RUNNERS_BPF_H
#define SCHED_RUNNERS_BPF_H

#include "sched/profile_targets.bpf.h"

#define RUNS 64

struct run {
	__u64 from, to;
	__u32 number;
};

struct runs {
	__u32 next;
	struct run runs[RUNS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runs);
} runs_here SEC(".maps");

static __always_inline void note_run(__u32 number, __u64 from, __u64 to)
{
	__u32 zero = 0, place;
	struct runs *runs = bpf_map_lookup_elem(&runs_here, &zero);

	if (!runs)
		return;
	place = runs->next++ & (RUNS - 1);
	asm volatile("%0 &= 63" : "+r"(place));
	runs->runs[place] = (struct run){ from, to, number };
}

struct run_search {
	__u64 from, unknown;
	__u32 waiter;
	struct runs *runs;
};

/* False: there is no room. */
static __always_inline bool add_runner(__u32 waiter, __u32 runner, __u64 ns)
{
	struct runner_key key = { waiter, runner };
	__u64 *known = bpf_map_lookup_elem(&runners, &key);

	if (!known)
		return !bpf_map_update_elem(&runners, &key, &ns, BPF_ANY);
	__sync_fetch_and_add(known, ns);
	return true;
}

static __always_inline void count_runner(__u32 waiter, __u32 runner, __u64 ns)
{
	if (!add_runner(waiter, runner, ns) && runner)
		add_runner(waiter, 0, ns);
}

static long count_run(__u32 i, struct run_search *s)
{
	struct run *run;
	__u32 place;
	__u64 from;

	if (!s->runs)
		return 1;
	place = s->runs->next - 1 - i;
	asm volatile("%0 &= 63" : "+r"(place));
	run = &s->runs->runs[place];
	if (run->to <= s->from)
		return 1;
	from = run->from > s->from ? run->from : s->from;
	count_runner(s->waiter, run->number, run->to - from);
	s->unknown -= run->to - from < s->unknown ? run->to - from : s->unknown;
	return 0;
}

static __noinline int count_runners(__u32 waiter, __u64 from, __u64 now)
{
	__u32 zero = 0;
	struct run_search s = { .from = from, .unknown = now - from, .waiter = waiter };

	s.runs = bpf_map_lookup_elem(&runs_here, &zero);
	bpf_loop(RUNS, count_run, &s, 0);
	/* It waited at another CPU, or that was idle when it was woken. */
	if (s.unknown)
		count_runner(waiter, 0, s.unknown);
	return 0;
}

#endif
