/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The sums that intervals, samples and hits are added to: counts by key, buckets of histograms, the
 * longest waits, and which threads ran while one waited for its CPU.
 */
#ifndef SCHED_COUNTING_BPF_H
#define SCHED_COUNTING_BPF_H

#include "sched/profile_targets.bpf.h"

static __always_inline bool wants(__u32 class)
{
	return config.classes >> class & 1;
}

/* Is what a thread waits for wanted? */
static __always_inline bool wants_wait(__u32 class, __u32 what)
{
	asm volatile("%0 &= %1" : "+r"(class) : "i"(RECORD_TIMES_MASK));
	return config.states[class] >> (what & 31) & 1;
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

static __always_inline void lengthen(struct profile_record *t, int i,
				     const struct count_value *more)
{
	if (more->longest < bucket_low(t->longest[i] + 1u, RECORD_LONGEST_BITS))
		return;
	t->longest[i] = bucket_slot(more->longest, RECORD_LONGEST_BITS);
	t->wakers[i] = more->waker;
}

/* Add to the counts in the record of the thread, which only one CPU at a time does, in the thread
 * or at a switch to it. False: there is no place for it. */
static __always_inline bool count_in_record(struct profile_record *t, const struct count_key *key,
					    const struct count_value *more)
{
	for (int i = 0; i < RECORD_COUNTS; i++) {
		struct record_count *c = &t->first[i];
		__u32 counted = c->counted;

		if (!counted && more->count <= RECORD_COUNT_MASK &&
		    more->runnable_count <= RECORD_COUNT_MASK) {
			c->user_stack = key->user_stack;
			c->kernel_stack = key->kernel_stack;
			c->ns = more->ns;
			c->runnable_ns = more->runnable_ns;
			t->longest[i] = bucket_slot(more->longest, RECORD_LONGEST_BITS);
			t->wakers[i] = more->waker;
			c->runnable_counted = (__u32)key->state << RECORD_COUNT_BITS |
					      (__u32)more->runnable_count;
			/* A barrier: who sees it sees the rest. */
			(void)__sync_lock_test_and_set(&c->counted,
						       (__u32)key->class << RECORD_COUNT_BITS |
							       (__u32)more->count);
			return true;
		}
		if (counted >> RECORD_COUNT_BITS != key->class ||
		    c->runnable_counted >> RECORD_COUNT_BITS != key->state ||
		    c->user_stack != key->user_stack || c->kernel_stack != key->kernel_stack)
			continue;
		if ((counted & RECORD_COUNT_MASK) + more->count > RECORD_COUNT_MASK ||
		    (c->runnable_counted & RECORD_COUNT_MASK) + more->runnable_count >
			    RECORD_COUNT_MASK)
			return false;
		c->ns += more->ns;
		c->runnable_ns += more->runnable_ns;
		lengthen(t, i, more);
		c->runnable_counted += (__u32)more->runnable_count;
		c->counted = counted + more->count;
		return true;
	}
	return false;
}

/* Only one CPU at a time writes the counts of a thread, except at their creation and from user
 * space. */
static __always_inline void count_in(const struct count_key *key, struct count_value *more,
				     struct profile_counts *counts)
{
	struct count_value *value = bpf_map_lookup_elem(&counted, key);

	more->reading = *(volatile __u32 *)&state.reading;
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
	if (value->longest < more->longest || value->reading != more->reading) {
		value->longest = more->longest;
		value->waker = more->waker;
		value->reading = more->reading;
	}
	if (more->runnable_count) {
		__sync_fetch_and_add(&value->runnable_ns, more->runnable_ns);
		__sync_fetch_and_add(&value->runnable_count, more->runnable_count);
	}
	counts->kept++;
}

/* An interval of the thread of this record. */
static __always_inline void count_interval(struct profile_record *t, const struct count_key *key,
					   struct count_value *more, struct profile_counts *counts)
{
	if (!config.by_cpu && !config.wants_wakers && count_in_record(t, key, more))
		counts->kept++;
	else
		count_in(key, more, counts);
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

/* --- latencies by cgroup --- */

/* The place whose histograms count the thread. The lookup by cgroup is repeated when user space has
 * changed places, so a thread that moves to another cgroup keeps its place until then. */
static __always_inline __u32 latency_place(struct profile_record *t)
{
	__u32 generation = *(volatile __u32 *)&state.latency_generation;
	__u64 cgroup = t->task.cgroup;
	__u32 *place;

	if (t->latency_generation != generation) {
		place = bpf_map_lookup_elem(&latency_places, &cgroup);
		t->latency_place = place ? *place : 0;
		t->latency_generation = generation;
	}
	return t->latency_place & (LATENCY_PLACES - 1);
}

static __always_inline void count_latency(struct profile_record *t, enum latency_kind kind,
					  __u64 ns)
{
	__u32 shard = bpf_get_smp_processor_id() & (LATENCY_SHARDS - 1);
	__u32 key = LATENCY_HISTOGRAM(shard, latency_place(t), kind);
	struct latency_slots *histogram = bpf_map_lookup_elem(&latencies, &key);
	__u32 slot = bucket_slot(ns, LATENCY_FRAC_BITS);

	if (!histogram || slot >= LATENCY_SLOTS)
		return;
	__sync_fetch_and_add(&histogram->counts[slot], 1);
	__sync_fetch_and_add(&histogram->sum, ns);
}

/* --- the longest waits ---
 *
 * On each CPU by itself: the longest of all CPUs are among them. */

struct shortest_search {
	__u64 least;
	struct longest_blocks *blocks;
	__u32 place;
};

/* A step of bpf_loop(), so that the verifier walks it once. */
static long find_shortest(__u32 i, struct shortest_search *s)
{
	if (!s->blocks || i >= PROFILE_LONGEST_MAX || i >= config.longest)
		return 1;
	asm volatile("%0 &= 63" : "+r"(i));
	if (s->blocks->blocks[i].blocked_ns < s->least) {
		s->least = s->blocks->blocks[i].blocked_ns;
		s->place = i;
	}
	return 0;
}

static __noinline int note_longest(struct profile_record *t, __u32 number, __u64 blocked_ns,
				   __u64 runnable_ns)
{
	__u32 zero = 0, place;
	struct longest_blocks *blocks = bpf_map_lookup_elem(&longest, &zero);
	struct shortest_search s = { .least = ~0ull, .blocks = blocks };
	struct longest_block *block;

	if (!t || !blocks)
		return 0;
	place = blocks->count;
	if (place >= config.longest) {
		if (blocked_ns <= blocks->least)
			return 0;
		bpf_loop(PROFILE_LONGEST_MAX, find_shortest, &s, 0);
		place = s.place;
	} else {
		blocks->count = place + 1;
	}
	if (place >= PROFILE_LONGEST_MAX)
		return 0;
	block = &blocks->blocks[place];
	block->begun = t->task.since;
	block->blocked_ns = blocked_ns;
	block->runnable_ns = runnable_ns;
	block->thread = number;
	block->class = t->task.state;
	block->state = t->waits;
	block->user_stack = t->user_stack;
	block->kernel_stack = t->kernel_stack;
	block->waker = t->waker;
	s.least = ~0ull;
	bpf_loop(PROFILE_LONGEST_MAX, find_shortest, &s, 0);
	blocks->least = s.least;
	return 0;
}

/* --- preemptors ---
 *
 * The last runs on each CPU, without gaps, and the part of a wait that each of them took. */

#define RUNS 512

struct counted_run {
	__u64 from, to;
	__u32 number;
};

struct runs {
	__u64 since; /* of the run in progress; 0: of before the first switch that was seen */
	__u32 running;
	__u32 next;
	struct counted_run runs[RUNS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runs);
} runs_here SEC(".maps");

/* The run of a thread with a record ends, which may be forgotten after this. */
static __always_inline void note_run(__u32 number, __u64 now)
{
	__u32 zero = 0, place;
	struct runs *runs = bpf_map_lookup_elem(&runs_here, &zero);

	if (!runs || runs->since == now)
		return;
	place = runs->next++ & (RUNS - 1);
	asm volatile("%0 &= 511" : "+r"(place));
	runs->runs[place] = (struct counted_run){ runs->since, now, number };
	runs->since = now;
}

static __always_inline __u32 runner_without_record(struct task_struct *task)
{
	if (!task->pid)
		return RUNNER_IDLE;
	return config.own_tgid && tgid_of(task) == config.own_tgid ? RUNNER_SELF : 0;
}

/* Whatever ran until `now` and had no record, and what runs from then on. */
static __always_inline void note_switch(struct task_struct *prev, struct task_struct *next,
					__u64 now)
{
	__u32 zero = 0, number = next->pid ? cached_number(next) : 0;
	struct runs *runs = bpf_map_lookup_elem(&runs_here, &zero);

	note_run(runner_without_record(prev), now);
	if (runs)
		runs->running =
			number && number != NUMBER_IGNORED ? number : runner_without_record(next);
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

/* Runs of another CPU change meanwhile: never more than the wait. */
static __always_inline void count_known(struct run_search *s, __u32 runner, __u64 ns)
{
	if (ns > s->unknown)
		ns = s->unknown;
	if (ns)
		count_runner(s->waiter, runner, ns);
	s->unknown -= ns;
}

static long count_run(__u32 i, struct run_search *s)
{
	struct counted_run *run;
	__u32 place;
	__u64 from;

	if (!s->runs)
		return 1;
	place = s->runs->next - 1 - i;
	asm volatile("%0 &= 511" : "+r"(place));
	run = &s->runs->runs[place];
	if (run->to <= s->from)
		return 1;
	from = run->from > s->from ? run->from : s->from;
	count_known(s, run->number, run->to - from);
	return s->unknown == 0;
}

/* What ran on another CPU, that had not switched since. */
static __always_inline void count_running(struct run_search *s, __u64 now)
{
	__u64 since = s->runs->since, from = since > s->from ? since : s->from;

	if (since && from < now)
		count_known(s, s->runs->running, now - from);
}

/* The thread waited in the queue of `cpu`; another may have taken it from there at last. */
static __noinline int count_runners(__u32 waiter, __u64 from, __u64 now, __u32 cpu)
{
	__u32 zero = 0;
	struct run_search s = { .from = from, .unknown = now - from, .waiter = waiter };

	s.runs = bpf_map_lookup_percpu_elem(&runs_here, &zero, cpu);
	if (s.runs && cpu != bpf_get_smp_processor_id())
		count_running(&s, now);
	if (s.unknown)
		bpf_loop(RUNS, count_run, &s, 0);
	/* More runs than are kept. */
	if (s.unknown)
		count_runner(waiter, 0, s.unknown);
	return 0;
}

#endif
