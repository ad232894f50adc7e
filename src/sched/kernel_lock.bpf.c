/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The lock of the kernel that a thread waits for, and the thread that holds it.
 *
 * Kernels that look for hung tasks note the lock in the task (`blocker`, Linux 6.16, for
 * rw_semaphores 6.17), but not where signals that kill end the wait, as in munmap(2). Otherwise
 * only one lock is looked at: mmap_lock of the thread's own memory, in whose list of waiters the
 * thread must be. Lists and owners change while they are read: reads that fail give zeros, and an
 * owner counts only if the lock has it before and after it was read.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/task.bpf.h"
#include "sched/kernel_lock_record.h"

char programs_license[] SEC("license") = "Dual BSD/GPL";

/* Waiters of one lock that are looked at. */
#define WAITERS_MOST 256

/* kernel/locking/mutex.h and kernel/locking/rwsem.c */
#define MUTEX_FLAGS        7
#define RWSEM_FLAGS        3
#define RWSEM_READER_OWNED 1

/* A map of memory: global variables would be reset by nobody between two threads. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kernel_lock);
} answers SEC(".maps");

/* The first waiter of a lock, and what follows the last one: the head of the list, or, in a list
 * without a head, the first again. NULL: none waits. */
static __always_inline struct list_head *first_waiter(struct rw_semaphore *lock,
						      struct list_head **ret_end)
{
	struct rw_semaphore___circle *circle = (void *)lock;
	struct list_head *first;

	if (bpf_core_field_exists(circle->first_waiter))
		return *ret_end = (void *)BPF_CORE_READ(circle, first_waiter);
	if (!bpf_core_field_exists(lock->wait_list))
		return NULL;
	*ret_end = &lock->wait_list;
	first = BPF_CORE_READ(lock, wait_list.next);
	return first == *ret_end ? NULL : first;
}

static __always_inline bool is_waiter(struct rw_semaphore *lock, struct task_struct *task)
{
	struct list_head *end = NULL, *at;

	if (!bpf_core_type_exists(struct rwsem_waiter))
		return false;
	at = first_waiter(lock, &end);
	for (int i = 0; i < WAITERS_MOST && at; i++) {
		/* The list is the first member. */
		struct rwsem_waiter *waiter = (void *)at;

		if (BPF_CORE_READ(waiter, task) == task)
			return true;
		at = BPF_CORE_READ(at, next);
		if (at == end)
			return false;
	}
	return false;
}

/* The number of the owner, of the same word before and after. */
static __always_inline __u32 owner_of(unsigned long *word, unsigned long flags, unsigned long *ret)
{
	const __u32 level = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid, level);
	unsigned long before = 0, after = 0;
	__u32 number = 0;

	bpf_probe_read_kernel(&before, sizeof(before), word);
	*ret = before;
	if (before & ~flags)
		number = pid_number((struct task_struct *)(before & ~flags), level);
	bpf_probe_read_kernel(&after, sizeof(after), word);
	return (before & ~flags) == (after & ~flags) ? number : 0;
}

static __always_inline void look_at_rwsem(struct rw_semaphore *lock, struct kernel_lock *ret)
{
	unsigned long word;

	/* Not with CONFIG_PREEMPT_RT. */
	if (!bpf_core_field_exists(lock->owner))
		return;
	ret->owner = owner_of((unsigned long *)&lock->owner, RWSEM_FLAGS, &word);
	ret->has_readers = word & RWSEM_READER_OWNED;
	/* The word keeps the reader that came last, which may be gone. */
	if (ret->has_readers)
		ret->owner = 0;
}

SEC("iter/task") int look(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct mm_struct *mm;
	struct kernel_lock *ret;
	unsigned long blocker = 0, word;
	__u32 first = 0;

	ret = bpf_map_lookup_elem(&answers, &first);
	if (!task || !ret)
		return 0;
	ret->kind = KERNEL_LOCK_NONE;
	ret->owner = 0;
	ret->is_memory = ret->has_readers = 0;
	mm = BPF_CORE_READ(task, mm);
	if (bpf_core_field_exists(task->blocker))
		blocker = BPF_CORE_READ(task, blocker);
	if (blocker) {
		ret->kind = blocker & 3;
		blocker &= ~3ul;
		if (ret->kind == KERNEL_LOCK_MUTEX) {
			struct mutex *mutex = (void *)blocker;

			ret->owner = owner_of((unsigned long *)&mutex->owner, MUTEX_FLAGS, &word);
		} else if (ret->kind != KERNEL_LOCK_SEMAPHORE) {
			look_at_rwsem((void *)blocker, ret);
			ret->is_memory = mm && blocker == (unsigned long)&mm->mmap_lock;
		}
	} else if (mm && bpf_core_field_exists(mm->mmap_lock) && is_waiter(&mm->mmap_lock, task)) {
		ret->kind = KERNEL_LOCK_READ;
		ret->is_memory = 1;
		look_at_rwsem(&mm->mmap_lock, ret);
	}
	return 0;
}
