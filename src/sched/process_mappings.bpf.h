/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The mappings of processes, for walks over their stacks: `unwind_processes`.
 *
 * User space fills it (process/unwinder.h). Until it has done so, a child has the mappings of its
 * parent, and the first walk in a new program records what it has mapped, as does a walk that finds
 * more executable pages than were recorded (process/mapping_record.h).
 */
#ifndef SCHED_PROCESS_MAPPINGS_BPF_H
#define SCHED_PROCESS_MAPPINGS_BPF_H

#include "process/mapping_record.h"
#include "sched/profile_maps.bpf.h"

#define VM_EXEC 4 /* include/linux/mm.h */

/* Of a slot in which not all mappings could be put. The generation of the entry is then how many
 * files were known. */
#define NO_EPOCH (~0u)

struct mapping_recording recording;

/* Locations of free slots. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, RECORDED_SLOTS);
	__type(value, __u32);
} mapping_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, KNOWN_FILES_MAX);
	__type(key, struct file_part);
	__type(value, struct known_file);
} known_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, MAPPING_REQUEST_BYTES);
} mapping_requests SEC(".maps");

static __always_inline __u32 recording_epoch(void)
{
	return *(volatile __u32 *)&recording.epoch;
}

static __always_inline __u64 recording_files(void)
{
	return *(volatile __u64 *)&recording.files;
}

static __always_inline void ask_for(__u32 tgid, __u64 generation)
{
	if (!bpf_map_lookup_elem(&unwind_asked, &tgid) &&
	    !bpf_map_update_elem(&unwind_asked, &tgid, &generation, BPF_NOEXIST))
		__sync_fetch_and_add(&state.asked_count, 1);
}

/* User space builds processes from events anyway, so only one that has lived for a while may have
 * been missed. */
#define ASK_AFTER_NS 1000000000ull

static __always_inline void ask_for_old(struct task_struct *task, __u32 tgid)
{
	if (!config.records_mappings ||
	    bpf_ktime_get_ns() - BPF_CORE_READ(task, group_leader, start_time) > ASK_AFTER_NS)
		ask_for(tgid, 0);
}

/* Is the task in execve()? Not every kernel has task->in_execve. */
static __always_inline bool calls_execve(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	/* execve() and execveat(). */
	return !bpf_core_field_exists(regs->orig_ax) || regs->orig_ax == 59 || regs->orig_ax == 322;
}

/* --- recording --- */

/* The first mapping of the chunk that a slot is in. */
static __always_inline struct unwind_mapping *chunk_mappings(__u32 slot)
{
	__u32 chunk = slot >> UNWIND_CHUNK_BITS, zero = 0;
	void *map = bpf_map_lookup_elem(&unwind_chunks, &chunk);

	return map ? bpf_map_lookup_elem(map, &zero) : 0;
}

static __always_inline __u32 mapping_place(__u32 slot, __u32 number)
{
	__u32 place = (slot & (UNWIND_CHUNK - 1)) / UNWIND_MAPPING_WORDS + number;

	asm volatile("%0 &= 16383" : "+r"(place));
	return place;
}
_Static_assert(UNWIND_CHUNK / UNWIND_MAPPING_WORDS == 16384, "the mask of mapping_place()");

/* `changed_ns` has been stored in three ways (include/linux/fs.h). Since Linux 6.13 the upper bit
 * of the nanoseconds says whether the time was asked for. */
static __always_inline __u64 change_of(struct inode *inode)
{
	struct inode___old_times *older = (void *)inode;
	struct inode___new_times *newer = (void *)inode;
	struct inode___split_times *split = (void *)inode;
	struct timespec64 time = { 0 };

	if (bpf_core_field_exists(split->i_ctime_sec))
		return BPF_CORE_READ(split, i_ctime_sec) * 1000000000ull +
		       (BPF_CORE_READ(split, i_ctime_nsec) & ~(1u << 31));
	if (bpf_core_field_exists(newer->__i_ctime))
		BPF_CORE_READ_INTO(&time, newer, __i_ctime);
	else if (bpf_core_field_exists(older->i_ctime))
		BPF_CORE_READ_INTO(&time, older, i_ctime);
	return time.tv_sec * 1000000000ull + (time.tv_nsec & ~(1ull << 31));
}

/* False: it is neither a file nor the vDSO. */
static __always_inline bool describe_part(struct vm_area_struct *vma, struct mm_struct *mm,
					  __u64 start, struct file_part *ret)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct inode *inode;

	if (!file) {
		ret->is_vdso = start == (__u64)BPF_CORE_READ(mm, context.vdso);
		return ret->is_vdso;
	}
	inode = BPF_CORE_READ(file, f_inode);
	ret->offset = (__u64)BPF_CORE_READ(vma, vm_pgoff) << 12;
	ret->inode = BPF_CORE_READ(inode, i_ino);
	ret->device = BPF_CORE_READ(inode, i_sb, s_dev);
	ret->changed_ns = change_of(inode);
	return true;
}

/* Complete a mapping. False: the table of its file is not known, which user space is told. */
static __always_inline bool take_mapping(struct vm_area_struct *vma, struct mm_struct *mm,
					 __u32 tgid, struct unwind_mapping *mapping)
{
	struct mapping_request request = { .pid = tgid, .start = mapping->start };
	struct known_file *known;

	request.part.bytes = mapping->end - mapping->start;
	if (!describe_part(vma, mm, mapping->start, &request.part))
		return false;
	known = bpf_map_lookup_elem(&known_files, &request.part);
	if (!known) {
		bpf_ringbuf_output(&mapping_requests, &request, sizeof(request), 0);
		return false;
	}
	mapping->delta = mapping->start + known->relative;
	mapping->table = known->table;
	mapping->kind = known->kind;
	return known->kind < UNWIND_MAPPINGS;
}

/*
 * The mappings are found in the maple tree of the process (include/linux/maple_tree.h, since Linux
 * 6.1): no lock can be taken here. Programs run in a section of RCU, so what is read stays there;
 * a mapping counts only if it says the same as the tree. Other threads of the process may change
 * mappings meanwhile, which is noticed by the number of executable pages, now or at the next walk.
 */

#define NODE_WORDS    32  /* of a node: 256 bytes */
#define NODE_SLOTS    16  /* at most */
#define SCAN_STEPS    512 /* into a node, or of a slot of a leaf */
#define IS_NODE(slot) ((slot) > 4096 && !((slot)&1))

/* Are its nodes as they are read here? */
static __always_inline bool has_maple_tree(void)
{
	return bpf_core_type_exists(struct maple_range_64) &&
	       bpf_core_field_offset(struct maple_range_64, slot) == 16 * 8 &&
	       bpf_core_field_offset(struct maple_arange_64, slot) == 10 * 8;
}

static __always_inline __u64 node_word(const struct scratch *scratch, __u32 at)
{
	asm volatile("%0 &= 31" : "+r"(at));
	return scratch->walk.memory.copy[at];
}

/* Read the node that a slot leads to. Returns how many slots its kind has; 0: it is of no kind that
 * is expected. Its pivots follow the first word, and its slots the pivots, which are one less. */
static __always_inline __u32 read_node(struct scratch *scratch, __u64 slot, bool *ret_is_leaf)
{
	const __u64 kind = slot >> 3 & 15;

	if (!IS_NODE(slot) || bpf_probe_read_kernel(scratch->walk.memory.copy, NODE_WORDS * 8,
						    (void *)(slot & ~255ull)))
		return 0;
	*ret_is_leaf = kind == bpf_core_enum_value(enum maple_type, maple_leaf_64);
	if (*ret_is_leaf || kind == bpf_core_enum_value(enum maple_type, maple_range_64))
		return NODE_SLOTS;
	return kind == bpf_core_enum_value(enum maple_type, maple_arange_64) ? 10 : 0;
}

/* Go to a slot of the node, whose addresses begin at `start`. A pivot is the last address of a
 * slot; behind the last slot that is in use they are 0. */
static __always_inline void look_at_slot(struct scratch *scratch, __u32 number, __u64 start)
{
	struct mapping_scan *scan = &scratch->scan;
	const __u64 pivot =
		number + 1 < scan->slots ? node_word(scratch, 1 + number) : scan->node_end;

	scan->number = number;
	scan->start = start;
	scan->end = pivot ? pivot : scan->node_end;
	scan->slot = node_word(scratch, scan->slots + number);
}

static __always_inline void look_at_root(struct mapping_scan *scan)
{
	scan->slot = (__u64)BPF_CORE_READ(bpf_get_current_task_btf(), mm, mm_mt.ma_root);
	scan->start = 0;
	scan->end = ~0ull;
	scan->is_leaf = false;
}

/* Global functions are verified once, and not in each state of the loop that calls them. */
int enter_node(struct scratch *scratch);
int take_vma(struct scratch *scratch);

/* Enter the node of the slot, at the next address. Returns 0 if it is not as expected. */
__noinline int enter_node(struct scratch *scratch)
{
	struct mapping_scan *scan;
	__u64 number = 0;
	bool is_leaf = false;

	if (!scratch)
		return 0;
	scan = &scratch->scan;
	scan->node_end = scan->end;
	scan->slots = read_node(scratch, scan->slot, &is_leaf);
	scan->is_leaf = is_leaf;
	if (!scan->slots)
		return 0;
	/* Count the pivots before it, without branches, each of which the verifier would follow. */
	for (__u64 i = 1; i < NODE_SLOTS; i++) {
		const __u64 pivot = node_word(scratch, i);
		__u64 is_before = (pivot - scan->next) & -pivot & (i - scan->slots);

		asm volatile("" : "+r"(is_before));
		number += is_before >> 63;
	}
	asm volatile("%0 &= 15" : "+r"(number));
	look_at_slot(scratch, number, number ? node_word(scratch, number) + 1 : scan->start);
	return 1;
}

/* Take the mapping of the slot. Returns 0 if it is not as expected. */
__noinline int take_vma(struct scratch *scratch)
{
	struct mm_struct *mm = bpf_get_current_task_btf()->mm;
	struct unwind_mapping mapping = { 0 }, *mappings;
	struct vm_area_struct *vma;
	struct mapping_scan *scan;

	if (!scratch)
		return 0;
	scan = &scratch->scan;
	vma = (struct vm_area_struct *)scan->slot;
	if (!scan->slot || scan->slot & 3 || !(BPF_CORE_READ(vma, vm_flags) & VM_EXEC))
		return 1;
	mapping.start = scan->start;
	mapping.end = scan->end + 1;
	mappings = chunk_mappings(scan->process_slot);
	if (!mappings || BPF_CORE_READ(vma, vm_mm) != mm ||
	    BPF_CORE_READ(vma, vm_start) != mapping.start ||
	    BPF_CORE_READ(vma, vm_end) != mapping.end || scan->count >= RECORDED_MAPPINGS)
		return 0;
	/* User space is told of all that are not known. */
	if (!take_mapping(vma, mm, scan->tgid, &mapping))
		scan->lacks = true;
	mappings[mapping_place(scan->process_slot, scan->count)] = mapping;
	scan->count++;
	return 1;
}

struct scan_context {
	struct scratch *scratch;
};

/* Enter a node, or look at a slot of a leaf. Returning 1 ends the scan. */
static long scan_step(__u32 index, struct scan_context *context)
{
	struct scratch *scratch = context->scratch;
	struct mapping_scan *scan;

	(void)index;
	if (!scratch)
		return 1;
	scan = &scratch->scan;
	if (!scan->is_leaf)
		return enter_node(scratch) == 0;
	if (!take_vma(scratch))
		return 1;
	if (scan->end < scan->node_end) {
		look_at_slot(scratch, scan->number + 1, scan->end + 1);
		return 0;
	}
	if (scan->end >= USER_SPACE_LIMIT - 1) {
		scan->has_ended = true;
		return 1;
	}
	scan->next = scan->end + 1;
	look_at_root(scan);
	return 0;
}

/* Put the executable mappings of the current process into its slot. Returns whether all could be
 * taken; in execve() there may be none yet. */
static __always_inline bool fill_slot(struct scratch *scratch, struct unwind_process *process,
				      __u32 tgid)
{
	struct scan_context context = { .scratch = scratch };
	struct mapping_scan *scan = &scratch->scan;

	scan->next = 0;
	scan->tgid = tgid;
	scan->process_slot = process->slot;
	scan->count = 0;
	scan->has_ended = false;
	scan->lacks = false;
	look_at_root(scan);
	bpf_loop(SCAN_STEPS, scan_step, &context, 0);
	if (!scan->has_ended || scan->lacks ||
	    bpf_map_lookup_elem(&unwind_processes, &tgid) != process)
		return false;
	asm volatile("" ::: "memory");
	process->count = scan->count;
	return true;
}

/* The slot of the process, which it may have from an earlier program or from a process that had its
 * number; 0: there is none. */
static __always_inline struct unwind_process *take_slot(struct unwind_process *process, __u32 tgid)
{
	struct unwind_process new = { 0 };

	if (process)
		return process->slot ? process : 0;
	if (bpf_map_pop_elem(&mapping_slots, &new.slot))
		return 0;
	new.space = new.slot;
	if (bpf_map_update_elem(&unwind_processes, &tgid, &new, BPF_NOEXIST)) {
		bpf_map_push_elem(&mapping_slots, &new.slot, BPF_ANY);
		return 0;
	}
	return bpf_map_lookup_elem(&unwind_processes, &tgid);
}

__u32 record_mappings(struct scratch *scratch, __u32 tgid);

/* Record what the current process has mapped. Returns 0 if it is left to user space. */
__noinline __u32 record_mappings(struct scratch *scratch, __u32 tgid)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	struct mm_struct *mm = task->mm;
	bool is_filled;
	__u64 files;

	if (!mm || !scratch || !has_maple_tree())
		return 0;
	process = take_slot(process, tgid);
	if (!process)
		return 0;
	if (process->memory == (__u64)mm) {
		/* Walks of other threads may be going on in what is recorded. */
		if (process->count && task->signal->nr_threads > 1)
			return 0;
		/* Nothing has changed since a file was not known. */
		if (process->epoch == NO_EPOCH && process->generation == recording_files())
			return 0;
	}
	if (__sync_lock_test_and_set(&process->is_busy, 1))
		return 0;
	/* Nor must a sample that interrupts this see half of it. */
	process->count = 0;
	process->memory = (__u64)mm;
	process->exec_pages = mm->exec_vm;
	process->epoch = recording_epoch();
	process->generation =
		RECORDED_GENERATION | (__sync_fetch_and_add(&recording.generation, 1) + 1);
	files = recording_files();
	asm volatile("" ::: "memory");
	is_filled = fill_slot(scratch, process, tgid);
	/* Its memory may have become another entry, if user space has published the process. */
	if (bpf_map_lookup_elem(&unwind_processes, &tgid) != process)
		return 0;
	if (!is_filled) {
		process->epoch = NO_EPOCH;
		process->generation = files;
	}
	process->is_busy = 0;
	return process->count;
}

/* --- looking them up --- */

/* Is what is recorded that of the program which runs now? */
static __always_inline bool is_usable(const struct unwind_process *process, struct mm_struct *mm)
{
	return process->epoch == recording_epoch() && process->memory == (__u64)mm && mm;
}

/* And all that it has mapped? */
static __always_inline bool is_recorded(const struct unwind_process *process, struct mm_struct *mm)
{
	return is_usable(process, mm) && mm->exec_vm == process->exec_pages;
}

/* The entry of the process, whose mappings are recorded if user space has not published them.
 * NULL: they are not known. */
static __always_inline struct unwind_process *known_process(struct scratch *scratch,
							    struct task_struct *task, __u32 tgid)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);

	if (process && !process->slot && process->count)
		return process;
	if (process && process->slot && is_recorded(process, task->mm))
		return process->count ? process : 0;
	if (!config.records_mappings)
		return 0;
	record_mappings(scratch, tgid);
	process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	/* If it has several threads and has mapped more since, what is recorded stays. */
	return process && process->count && (!process->slot || is_usable(process, task->mm))
		       ? process
		       : 0;
}

/* The mappings of the current process. Returns UNWIND_GOES_ON if they are complete, else why not.
 */
static __always_inline __u32 find_mappings(struct scratch *scratch, struct task_struct *task,
					   __u32 tgid, struct unwind_process *ret)
{
	struct unwind_process *process;
	struct mm_struct *mm;

	ret->space = ret->count = 0;
	ret->generation = 0;
	if (config.unwind == UNWIND_BY_POINTERS)
		return UNWIND_POINTER_END;
	process = known_process(scratch, task, tgid);
	if (!process) {
		ask_for_old(task, tgid);
		return UNWIND_NO_PROCESS;
	}
	*ret = *process;
	mm = task->mm;
	if (ret->exec_pages && mm && mm->exec_vm < ret->exec_pages) {
		/* Something was unmapped. The tables of all other mappings are still right, and no
		 * frame is in what is gone; but exec has replaced all mappings and the stack. */
		if (calls_execve(task)) {
			ask_for_old(task, tgid);
			ret->generation = 0;
			return UNWIND_CHANGED;
		}
		ask_for(tgid, ret->generation);
	}
	return UNWIND_GOES_ON;
}

/* --- forks and execs --- */

/* The slot of a process that ended, and whose number another one gets. */
static __always_inline void give_up_slot(__u32 tgid)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	__u32 slot = process ? process->slot : 0;

	if (slot)
		bpf_map_push_elem(&mapping_slots, &slot, BPF_ANY);
}

/* A child has what its parent has mapped. What is recorded of the parent is its own. */
static __always_inline void inherit_mappings(__u32 parent, __u32 child)
{
	struct unwind_process *process, copy;

	if (!config.unwind || !child || parent == child)
		return;
	process = bpf_map_lookup_elem(&unwind_processes, &parent);
	if (process && !process->slot) {
		give_up_slot(child);
		copy = *process;
		bpf_map_update_elem(&unwind_processes, &child, &copy, BPF_ANY);
		return;
	}
	/* Of a process that had its number. A slot is used again by the first walk. */
	process = bpf_map_lookup_elem(&unwind_processes, &child);
	if (process && !process->slot)
		bpf_map_delete_elem(&unwind_processes, &child);
}

/* At the end of an exec. What a walk has recorded of the new program stays. */
static __always_inline void forget_mappings(struct task_struct *task, __u32 tgid)
{
	struct unwind_process *process;

	if (!config.unwind)
		return;
	process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (!process)
		return;
	if (!process->slot) {
		bpf_map_delete_elem(&unwind_processes, &tgid);
	} else if (process->memory != (__u64)task->mm) {
		/* A later program may get the mm_struct of the one that is gone. */
		process->count = 0;
		process->memory = 0;
		process->epoch = NO_EPOCH;
	}
}

#endif
