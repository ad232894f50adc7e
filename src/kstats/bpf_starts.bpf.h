/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Starts that have no end yet (bpf_record.h says how they are kept).
 */
#ifndef KSTATS_BPF_STARTS_BPF_H
#define KSTATS_BPF_STARTS_BPF_H

#include "kstats/bpf_slots.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kstats_starts);
} inflight SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kstats_last_ends);
} last_ends SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kstats_here);
} here SEC(".maps");

#define GOLDEN 0x9e3779b97f4a7c15ull

static __always_inline __u32 home_of(__u64 tag)
{
	return tag * GOLDEN >> (64 - config.set_bits);
}

/* --- sets --- */

static __always_inline struct kstats_start *find_in(__u32 set, __u64 tag)
{
	struct kstats_starts *s = bpf_map_lookup_elem(&inflight, &set);

	if (s)
		for (int i = 0; i < KSTATS_WAYS; i++)
			if (s->ways[i].tag == tag)
				return &s->ways[i];
	return 0;
}

static __always_inline struct kstats_start *claim_in(__u32 set, __u64 tag)
{
	struct kstats_starts *s = bpf_map_lookup_elem(&inflight, &set);

	if (s)
		for (int i = 0; i < KSTATS_WAYS; i++)
			if (!s->ways[i].tag &&
			    !__sync_val_compare_and_swap(&s->ways[i].tag, 0, tag))
				return &s->ways[i];
	return 0;
}

/* Replace the oldest start: it may never end. An entry without a time is about to get one. */
static __noinline int replace_oldest(__u32 set, __u64 tag)
{
	struct kstats_starts *s = bpf_map_lookup_elem(&inflight, &set);
	struct kstats_start *oldest = 0;
	__u64 other, ns, least = ~0ull;

	lose(KSTATS_VALUES, KSTATS_LOSS_full);
	if (!s)
		return 0;
	for (int i = 0; i < KSTATS_WAYS; i++) {
		ns = s->ways[i].ns;
		if (!ns || ns >= least)
			continue;
		least = ns;
		oldest = &s->ways[i];
	}
	if (!oldest)
		return 0;
	other = oldest->tag;
	if (__sync_val_compare_and_swap(&oldest->tag, other, tag) == other)
		oldest->ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline struct kstats_start *find_start(__u64 tag)
{
	__u32 set = home_of(tag);
	struct kstats_start *start = find_in(set, tag);

	/* The set beside it takes what does not fit. */
	return start ? start : find_in(set ^ 1, tag);
}

static __always_inline struct kstats_start *place_for(__u64 tag)
{
	__u32 set = home_of(tag);
	struct kstats_start *start = find_in(set, tag);

	if (start) {
		if (start->ns)
			lose(KSTATS_VALUES, KSTATS_LOSS_replaced);
		return start;
	}
	start = claim_in(set, tag);
	if (!start)
		start = claim_in(set ^ 1, tag);
	if (!start)
		replace_oldest(set, tag);
	return start;
}

/* A function of Go begins with a check of its stack. If that is too small, or the goroutine is
 * preempted, the runtime is called, and then the function starts again: the same call, possibly on
 * another stack. The jump back marks the start, so that the restart leaves it alone. Without a
 * mark, a start replaces the previous one: that of a call that a panic has ended. */
#define RESTARTED (1ull << 63)

static __always_inline void mark_restart(__u64 tag)
{
	struct kstats_start *start = find_start(tag);

	if (start && start->ns)
		start->ns |= RESTARTED;
}

/* The same where the end is a call: it is passed a second time, for the same start. */
#define PASSED 1ull

static __always_inline void mark_passed(__u64 tag)
{
	struct kstats_start *start = find_start(tag) ? 0 : place_for(tag);

	if (start)
		start->ns = PASSED;
}

static __always_inline bool is_restart(__u64 tag)
{
	struct kstats_start *start = find_start(tag);

	if (!start || !(start->ns & RESTARTED))
		return false;
	start->ns &= ~RESTARTED;
	return true;
}

/* 0: there is none. */
static __always_inline __u64 take_start(__u64 tag)
{
	struct kstats_start *start = find_start(tag);
	__u64 ns;

	if (!start)
		return 0;
	/* Two may come to the end of the same argument. */
	if (config.key == KSTATS_KEY_ARGUMENT) {
		ns = __sync_lock_test_and_set(&start->ns, 0);
	} else {
		ns = start->ns;
		start->ns = 0;
	}
	if (ns)
		*(volatile __u64 *)&start->tag = 0;
	if (config.is_goroutine)
		ns &= ~RESTARTED;
	return ns;
}

/* --- when it ended last --- */

/* The thread or goroutine whose last end is remembered. */
struct owner {
	__u64 id;    /* the thread; of a goroutine, a number without the call in it */
	__u64 born;  /* CLOCK_BOOTTIME: its thread, or the process of a goroutine */
	__u64 since; /* the same, CLOCK_MONOTONIC */
	__u64 frame; /* where the call is on the stack; calls within it are further below */
};

/* A bit of kstats_ended.ns: a call has begun since that end, so no gap is in progress. */
#define GAP_ENDED (1ull << 63)

static __always_inline __u64 last_end(const struct kstats_ended *ended)
{
	return ended->ns & ~GAP_ENDED;
}

/* Fields of a freed task may have any value, but not the birth of that task. */
static __always_inline bool is_alive(const struct kstats_ended *ended)
{
	struct task_struct *task = (struct task_struct *)ended->owner;

	return task && BPF_CORE_READ(task, start_boottime) == ended->born &&
	       !BPF_CORE_READ(task, exit_state);
}

static __always_inline struct kstats_ended *ended_of(__u64 id, __u64 born, bool is_made)
{
	__u32 set = home_of(id);
	struct kstats_last_ends *s = bpf_map_lookup_elem(&last_ends, &set);
	struct kstats_ended *oldest;
	__u64 other;

	if (!s)
		return 0;
	for (int i = 0; i < KSTATS_WAYS; i++)
		if (s->ways[i].owner == id && s->ways[i].born == born)
			return &s->ways[i];
	if (!is_made)
		return 0;
	oldest = &s->ways[0];
	for (int i = 1; i < KSTATS_WAYS; i++)
		if (last_end(&s->ways[i]) < last_end(oldest))
			oldest = &s->ways[i];
	if (config.has_gaps && is_alive(oldest))
		lose(KSTATS_GAPS, KSTATS_LOSS_full);
	other = oldest->owner;
	if (__sync_val_compare_and_swap(&oldest->owner, other, id) != other)
		return 0;
	oldest->born = born;
	oldest->ns = 0;
	oldest->gap = 0;
	return oldest;
}

/* The owner comes to an end that has no start. Was that call in progress when recording began? Only
 * if the owner existed by then, and this is its first end since: later ends may lack a start, too
 * (a child of clone() returns from a call that its parent made). Of calls within calls several may
 * have been in progress. They end from the innermost to the outermost, so each is further up the
 * stack than all that have ended since. */
static __always_inline bool is_first_end(const struct owner *owner)
{
	struct kstats_ended *ended = ended_of(owner->id, owner->born, false);

	if (owner->since > control.since)
		return false;
	return !ended || last_end(ended) <= control.since ||
	       (config.has_frame && owner->frame > ended->top);
}

static __always_inline void note_end(const struct owner *owner, struct task_struct *task, __u64 now)
{
	struct kstats_ended *ended = ended_of(owner->id, owner->born, true);
	__u64 gap;

	if (!ended)
		return;
	if (config.has_frame && (owner->frame > ended->top || last_end(ended) <= control.since))
		ended->top = owner->frame;
	gap = ended->gap;
	ended->gap = 0;
	ended->ns = now;
	if (config.has_gaps && gap)
		record(KSTATS_GAPS, gap, task, 0);
}

/* Read the clock once, as late as possible, so that the overhead is before the measurement. The
 * time between is computed at the end, after the measurement. */
static __always_inline void put_start(__u64 tag, struct task_struct *task, __u64 born)
{
	struct kstats_ended *ended = config.has_gaps ? ended_of((__u64)task, born, false) : 0;
	struct kstats_start *start = place_for(tag);
	__u64 ns = GAP_ENDED, now;

	if (ended) {
		ns = ended->ns;
		ended->ns |= GAP_ENDED;
	}
	now = bpf_ktime_get_ns();
	if (start)
		start->ns = now;
	if (ended && !(ns & GAP_ENDED) && ns > control.since && now > ns)
		ended->gap = now - ns;
}

/* --- of a CPU --- */

/* A CPU has one start at a time, so one may have been in progress when recording began. */
static __always_inline bool is_first_end_here(void)
{
	__u32 zero = 0;
	struct kstats_here *h = bpf_map_lookup_elem(&here, &zero);

	return h && h->ended <= control.since;
}

static __always_inline void put_here(void)
{
	__u32 zero = 0;
	struct kstats_here *h = bpf_map_lookup_elem(&here, &zero);
	__u64 now, ended;

	if (!h)
		return;
	if (h->start)
		lose(KSTATS_VALUES, KSTATS_LOSS_replaced);
	ended = h->ended;
	h->ended = 0;
	now = bpf_ktime_get_ns();
	if (config.has_gaps)
		h->gap = ended > control.since && now > ended ? now - ended : h->gap;
	h->start = now;
}

static __always_inline __u64 take_here(__u64 now, struct task_struct *task)
{
	__u32 zero = 0;
	struct kstats_here *h = bpf_map_lookup_elem(&here, &zero);
	__u64 start, gap;

	if (!h)
		return 0;
	start = h->start;
	h->start = 0;
	h->ended = now;
	if (config.has_gaps) {
		gap = h->gap;
		h->gap = 0;
		if (gap)
			record(KSTATS_GAPS, gap, task, 0);
	}
	return start;
}

#endif
