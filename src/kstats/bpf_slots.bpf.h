/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Selects the tasks that are measured, the group that a value belongs to, and its slot.
 */
#ifndef KSTATS_BPF_SLOTS_BPF_H
#define KSTATS_BPF_SLOTS_BPF_H

#include "bpf/task.bpf.h"

#include "kstats/bpf_record.h"

const volatile struct kstats_config config SEC(".rodata.config");
struct kstats_control control SEC(".data.control");

/* One element per enum kstats_which in use; the loader sets its size. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KSTATS_WHICH_COUNT);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct kstats_cell) +
				   sizeof(struct kstats_pair) * BUCKET_SLOTS(BUCKET_FRAC_BITS_MAX));
} cells SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct kstats_group) +
				   sizeof(struct kstats_pair) * BUCKET_SLOTS(BUCKET_FRAC_BITS_MAX));
} groups SEC(".maps");

/* The number of a group. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct kstats_group_key);
	__type(value, __u32);
} group_numbers SEC(".maps");

/* Hide a value from the optimiser: so it neither adds to a pointer before the check for NULL, nor
 * drops the check of an index, which the verifier requires. */
#define KEPT(value) asm volatile("" : "+r"(value))

/* --- losses --- */

static __always_inline void lose(__u32 which, __u32 loss)
{
	volatile struct kstats_switch *here = &control.which[which];
	struct kstats_cell *cell;

	if (!here->is_active || here->is_held)
		return;
	cell = bpf_map_lookup_elem(&cells, &which);
	if (cell)
		__sync_fetch_and_add(&cell->lost[loss], 1);
}

/* --- whose it is --- */

static __always_inline __u32 tgid_of(struct task_struct *task)
{
	return control.pid_level ? pid_number(BPF_CORE_READ(task, group_leader), control.pid_level)
				 : (__u32)BPF_CORE_READ(task, tgid);
}

static __always_inline __u32 tid_of(struct task_struct *task)
{
	return control.pid_level ? pid_number(task, control.pid_level)
				 : (__u32)BPF_CORE_READ(task, pid);
}

static __always_inline bool is_on_wanted_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return cpu < KSTATS_CPUS_MAX && config.cpus[cpu / 64] >> (cpu & 63) & 1;
}

static __always_inline bool has_wanted_name(struct task_struct *task)
{
	__u64 name[2] = { 0 };

	BPF_CORE_READ_INTO(&name, task, comm);
	return name[0] == ((const volatile __u64 *)config.comm)[0] &&
	       name[1] == ((const volatile __u64 *)config.comm)[1];
}

/* Numbers are given again. */
static __always_inline bool is_wanted_process(struct task_struct *task)
{
	if (tgid_of(task) != config.tgid)
		return false;
	return !config.tgid_born ||
	       (BPF_CORE_READ(task, group_leader, start_boottime) + config.boot_offset) /
			       KSTATS_TICK_NS ==
		       config.tgid_born;
}

static __always_inline bool is_task_measured(struct task_struct *task)
{
	if (!config.has_filter)
		return true;
	if (config.has_cpus && !is_on_wanted_cpu())
		return false;
	if (config.tgid && !is_wanted_process(task))
		return false;
	if (config.cgroup && !is_below(task, config.cgroup))
		return false;
	return !config.has_comm || has_wanted_name(task);
}

#define IS_BY_TASK (config.by == KSTATS_BY_PROCESS || config.by == KSTATS_BY_THREAD)

static __always_inline __u64 group_of(struct task_struct *task, __u64 returned)
{
	switch (config.by) {
	case KSTATS_BY_CGROUP:
		return cgroup_of(task);
	case KSTATS_BY_RETVAL:
		return returned;
	default:
		return tid_of(task);
	}
}

/* Update the name: it changes when the process executes another program. */
static __always_inline void describe_group(struct kstats_group *group, struct task_struct *task)
{
	__u64 *label = (__u64 *)group->label, name[2] = { 0 };

	if (!IS_BY_TASK)
		return;
	BPF_CORE_READ_INTO(&name, task, comm);
	/* Do not write without need: that would take the cache line from other CPUs. */
	if (label[0] != name[0] || label[1] != name[1]) {
		label[0] = name[0];
		label[1] = name[1];
	}
}

/* The last group counts the values of all groups that got no number. */
static __always_inline struct kstats_group *the_rest(const struct kstats_group_key *key)
{
	__u32 number = config.group_room - 1 + (key->which ? config.group_room : 0);

	return bpf_map_lookup_elem(&groups, &number);
}

/* Assign the next number to a new group. If two CPUs do so at once, the number of one is wasted. */
static __always_inline struct kstats_group *new_group(const struct kstats_group_key *key)
{
	volatile struct kstats_switch *here = &control.which[key->which & 1];
	struct kstats_group *group;
	__u32 number;

	if (here->groups >= config.group_room - 1)
		return the_rest(key);
	number = __sync_fetch_and_add(&here->groups, 1);
	if (number >= config.group_room - 1)
		return the_rest(key);
	number += key->which ? config.group_room : 0;
	group = bpf_map_lookup_elem(&groups, &number);
	if (!group)
		return 0;
	group->id = key->id;
	group->born = key->born;
	if (!bpf_map_update_elem(&group_numbers, key, &number, BPF_NOEXIST))
		return group;
	/* Another CPU was first. */
	{
		__u32 *other = bpf_map_lookup_elem(&group_numbers, key);

		return other ? bpf_map_lookup_elem(&groups, other) : 0;
	}
}

static __always_inline struct kstats_pair *slots_of(__u32 which, struct task_struct *task,
						    __u64 returned)
{
	struct kstats_group_key key = { .which = which };
	struct kstats_group *group;
	struct kstats_cell *cell;
	__u32 *number;

	/* A gap ends before there is something to return. */
	if (config.by == KSTATS_BY_CPU || (config.by == KSTATS_BY_RETVAL && which)) {
		cell = bpf_map_lookup_elem(&cells, &which);
		if (!cell)
			return 0;
		KEPT(cell);
		return cell->slots;
	}
	/* A process is its leader: its number, its start and its name, also after an exec
	 * (de_thread() in fs/exec.c). */
	if (config.by == KSTATS_BY_PROCESS)
		task = BPF_CORE_READ(task, group_leader);
	key.id = group_of(task, returned);
	/* The idle threads of all CPUs are 0. */
	if (IS_BY_TASK && key.id)
		key.born = BPF_CORE_READ(task, start_boottime);
	number = bpf_map_lookup_elem(&group_numbers, &key);
	group = number ? bpf_map_lookup_elem(&groups, number) : new_group(&key);
	if (!group)
		return 0;
	/* A group of several owners has no name. */
	if (group->id == key.id)
		describe_group(group, task);
	KEPT(group);
	return group->slots;
}

/* --- the value --- */

static __always_inline void record(__u32 which, __u64 value, struct task_struct *task,
				   __u64 returned)
{
	volatile struct kstats_switch *here = &control.which[which];
	const __u32 frac_bits = config.frac_bits;
	__u32 slot = bucket_slot(value, frac_bits);
	struct kstats_pair *pairs;
	__u64 scaled;

	if (!here->is_active || here->is_held)
		return;
	pairs = slots_of(which, task, returned);
	if (!pairs) {
		lose(which, KSTATS_LOSS_full);
		return;
	}
	scaled = value >> bucket_shift(slot, frac_bits);
	/* The compiler knows that it is; the verifier does not. */
	KEPT(slot);
	if (slot >= config.slots)
		return;
	/* A program that is interrupted here is not called again in between (bpf_prog_active, and
	 * `active` of programs at tracepoints and functions), except those of user space, and
	 * groups cover all CPUs. */
	if (config.is_preempted || config.by != KSTATS_BY_CPU) {
		__sync_fetch_and_add(&pairs[slot].count, 1);
		__sync_fetch_and_add(&pairs[slot].sum, scaled);
	} else {
		pairs[slot].count += 1;
		pairs[slot].sum += scaled;
	}
}

#endif
