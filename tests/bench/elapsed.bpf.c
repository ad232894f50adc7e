/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The least that thread states can cost: at a switch, the time since the last one is added to a
 * record of each of the two threads, and at a wake-up its time is noted. A record is one cache
 * line, found by the thread's number, and threads with the same last bits share it, so the sums are
 * of no use.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_helpers.h>

char programs_license[] SEC("license") = "Dual BSD/GPL";

#define RECORDS 65536

struct elapsed {
	__u64 since, woken, ns[6];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RECORDS);
	__type(key, __u32);
	__type(value, struct elapsed);
} records SEC(".maps");

static __always_inline struct elapsed *record_of(struct task_struct *task)
{
	__u32 at = (__u32)task->pid % RECORDS;

	return bpf_map_lookup_elem(&records, &at);
}

static __always_inline void add(struct elapsed *record, __u32 what, __u64 now)
{
	if (!record)
		return;
	record->ns[what] += now - record->since;
	record->since = now;
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	add(record_of((void *)ctx[1]), 0, now);
	add(record_of((void *)ctx[2]), 1, now);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	struct elapsed *record = record_of((void *)ctx[0]);

	if (record)
		record->woken = bpf_ktime_get_ns();
	return 0;
}
