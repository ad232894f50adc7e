/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Walks all threads of our PID namespace and writes what the kernel knows of each into memory that
 * is shared with user space.
 *
 * Nothing goes through the seq file of the iterator: copying a record there and out again costs as
 * much as making it. When the batch is full the program asks to see the same thread again, which
 * ends the read() with EAGAIN; the reader takes the batch, sets `count` to 0 and reads on.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/task.bpf.h"
#include "capture/task_record.h"

char programs_license[] SEC("license") = "Dual BSD/GPL";

/* include/linux/sched.h */
#define PF_WQ_WORKER 0x00000020

struct task_kernel kernel;

/* Memory that user space maps. It is no global variable, since the first contents of those are kept
 * in the program that loads them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct task_batch);
} batches SEC(".maps");

extern const void ext_sched_class __ksym __weak;
extern const void __cpu_active_mask __ksym __weak;

/* The bytes of a mask. The bound is one that the compiler knows already and the verifier does not,
 * so the number is hidden from the compiler. */
static __always_inline __u64 mask_bytes(__u64 words)
{
	__u64 bytes = words * 8;

	asm volatile("" : "+r"(bytes));
	return bytes > TASK_CPU_WORDS * 8 ? TASK_CPU_WORDS * 8 : bytes;
}

/* --- names --- */

/*
 * A kernel thread's own name may be longer than comm; a worker of a workqueue adds what it works
 * on, or did last: "+events", "-events" (kernel/workqueue.c, wq_worker_comm). From Linux 6.9 on the
 * rescuers among them go by their own name too, "kworker/R-...".
 */
static __always_inline void take_kernel_name(struct task_struct *task, struct iterator_record *r)
{
	struct kthread *kthread = task->worker_private;
	struct worker *worker;
	char *full_name = 0;
	char start[10] = "";
	void *pool, *work;
	long length;

	if (!kthread || !bpf_core_field_exists(kthread->full_name))
		return;
	full_name = BPF_CORE_READ(kthread, full_name);
	if (!(r->kernel_flags & PF_WQ_WORKER)) {
		if (full_name)
			bpf_probe_read_kernel_str(r->name, sizeof(r->name), full_name);
		return;
	}
	if (full_name)
		bpf_probe_read_kernel_str(start, sizeof(start), full_name);
	if (start[0] == 'k' && start[1] == 'w' && start[2] == 'o' && start[7] == '/')
		bpf_probe_read_kernel_str(r->name, sizeof(r->name), full_name);
	worker = BPF_CORE_READ(kthread, data);
	if (!worker || !bpf_core_field_exists(worker->desc))
		return;
	pool = BPF_CORE_READ(worker, pool);
	work = BPF_CORE_READ(worker, current_work);
	if (!pool)
		return;
	/* Room for the sign and 31 bytes of description stays whatever is before. */
	for (length = 0; length < TASK_NAME_MAX / 2 - 1; length++)
		if (!r->name[length])
			break;
	if (bpf_probe_read_kernel_str(r->name + length + 1, TASK_NAME_MAX / 2, worker->desc) > 1)
		r->name[length] = work ? '+' : '-';
}

/* --- one thread --- */

static __always_inline void fill_numbers(struct task_struct *task, struct iterator_record *r)
{
	__u32 level = kernel.pid_level;

	r->is_leader = task->pid == task->tgid;
	if (!level) {
		r->tid = task->pid;
		r->tgid = task->tgid;
		return;
	}
	r->tid = pid_number(task, level);
	r->tgid = pid_number(BPF_CORE_READ(task, group_leader), level);
}

/* Facts of the process. */
static __always_inline void fill_process(struct task_struct *task, struct iterator_record *r)
{
	struct task_struct *parent = BPF_CORE_READ(task, real_parent);

	if (!kernel.pid_level)
		r->parent = BPF_CORE_READ(parent, tgid);
	else
		r->parent = pid_number(BPF_CORE_READ(parent, group_leader), kernel.pid_level);
	r->threads = BPF_CORE_READ(task, signal, nr_threads);
	r->euid = BPF_CORE_READ(task, cred, euid.val);
}

static __always_inline void take_identity(struct task_struct *task, struct iterator_record *r,
					  struct task_batch *batch)
{
	fill_numbers(task, r);
	r->kernel_flags = task->flags;
	r->state = task->__state;
	r->exit_state = task->exit_state;
	r->priority = task->prio;
	r->static_priority = task->static_prio;
	r->rt_priority = task->rt_priority;
	r->policy = task->policy;
	r->cpu = task->thread_info.cpu;
	r->start_boottime = task->start_boottime;
	r->is_ext = &ext_sched_class && batch->is_ext_on &&
		    (void *)BPF_CORE_READ(task, sched_class) == (void *)&ext_sched_class;
	__builtin_memcpy(r->name, task->comm, sizeof(task->comm));
	r->name[sizeof(task->comm) - 1] = '\0';
	if (r->kernel_flags & PF_KTHREAD)
		take_kernel_name(task, r);
}

static __always_inline void take_thread_pointer(struct task_struct *task, struct iterator_record *r)
{
	struct task_struct___arm64 *arm = (void *)task;

	r->thread_pointer = 0;
	if (bpf_core_field_exists(task->thread.fsbase))
		r->thread_pointer = task->thread.fsbase;
	else if (bpf_core_field_exists(arm->thread.uw.tp_value))
		r->thread_pointer = BPF_CORE_READ(arm, thread.uw.tp_value);
}

/* File pages, anonymous pages and those of shared memory: get_mm_rss() in include/linux/mm.h. */
static __always_inline __u64 resident_pages(struct mm_struct *mm)
{
	struct mm_struct___old *old = (void *)mm;
	__s64 file = 0, anonymous = 0, shared = 0;

	if (bpf_core_field_exists(mm->rss_stat[0].count)) {
		file = BPF_CORE_READ(mm, rss_stat[0].count);
		anonymous = BPF_CORE_READ(mm, rss_stat[1].count);
		shared = BPF_CORE_READ(mm, rss_stat[3].count);
	} else if (bpf_core_field_exists(old->rss_stat.count)) {
		file = BPF_CORE_READ(old, rss_stat.count[0].counter);
		anonymous = BPF_CORE_READ(old, rss_stat.count[1].counter);
		shared = BPF_CORE_READ(old, rss_stat.count[3].counter);
	}
	return (file > 0 ? file : 0) + (anonymous > 0 ? anonymous : 0) + (shared > 0 ? shared : 0);
}

/*
 * Read what threads of a process share only for the first of several adjacent ones: these dozen
 * probe reads took half of the program's time. The previous thread is of the same process and has
 * the same object, so the address was not reused.
 */
static __always_inline int is_shared(struct iterator_record *r, struct task_batch *batch)
{
	return batch->last_tgid == r->tgid;
}

static __always_inline void take_memory(struct task_struct *task, struct iterator_record *r,
					struct task_batch *batch, struct iterator_record *before)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	int is_known = is_shared(r, batch) && batch->last_mm == (__u64)mm;
	struct inode *program;

	batch->last_mm = (__u64)mm;
	r->has_mm = mm && !(r->kernel_flags & PF_KTHREAD);
	if (!r->has_mm)
		return;
	if (is_known) {
		r->hiwater_rss = before->hiwater_rss;
		r->hiwater_vm = before->hiwater_vm;
		r->total_vm = before->total_vm;
		r->exec_vm = before->exec_vm;
		r->rss = before->rss;
		r->program = before->program;
		r->program_inode = before->program_inode;
		r->program_device = before->program_device;
		return;
	}
	r->hiwater_rss = BPF_CORE_READ(mm, hiwater_rss);
	r->hiwater_vm = BPF_CORE_READ(mm, hiwater_vm);
	r->total_vm = BPF_CORE_READ(mm, total_vm);
	r->exec_vm = BPF_CORE_READ(mm, exec_vm);
	r->rss = resident_pages(mm);
	program = BPF_CORE_READ(mm, exe_file, f_inode);
	r->program = (__u64)program;
	r->program_inode = BPF_CORE_READ(program, i_ino);
	r->program_device = BPF_CORE_READ(program, i_sb, s_dev);
}

static __always_inline void fill_cgroup(struct task_struct *task, struct iterator_record *r,
					struct task_batch *batch, struct iterator_record *before)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	int is_known = is_shared(r, batch) && batch->last_css_set == (__u64)set;

	batch->last_css_set = (__u64)set;
	r->cgroup = is_known ? before->cgroup : BPF_CORE_READ(set, dfl_cgrp, kn, id);
}

static __always_inline void take_times(struct task_struct *task, struct iterator_record *r)
{
	r->utime = task->utime;
	r->stime = task->stime;
	if (bpf_core_field_exists(task->prev_cputime)) {
		r->shown_utime = task->prev_cputime.utime;
		r->shown_stime = task->prev_cputime.stime;
	}
}

#define TAKE(counter, member)                    \
	if (bpf_core_field_exists(task->member)) \
		r->counters[TASK_##counter] = task->member;

/* Volatile, so that the two readings of what may change between them stay two. */
#define AGAIN(place) (*(volatile __typeof__(place) *)&(place))

/*
 * The start of its wait for a CPU, and the total accounted before. A wait that ends meanwhile must
 * not be counted in both, so the total is read before and after the start.
 *
 * When the load balancer moves a thread that went to sleep but is still queued, the kernel stores a
 * start, and does not clear it when the thread leaves the queue: a sleeping thread then seems to
 * wait.
 */
static __always_inline void take_waits(struct task_struct *task, struct iterator_record *r)
{
	bool on_cpu = is_on_cpu(task);
	__u64 last_queued;

	if (!bpf_core_field_exists(task->sched_info.last_queued))
		return;
	last_queued = task->sched_info.last_queued;
	r->queued_since = !on_cpu && is_queued(task) ? last_queued : 0;
	r->queued_asleep = r->queued_since || on_cpu ? 0 : last_queued;
	TAKE(run_delay_max, sched_info.max_run_delay)
	TAKE(run_delay_min, sched_info.min_run_delay)
	if (r->counters[TASK_run_delay] != AGAIN(task->sched_info.run_delay)) {
		r->counters[TASK_run_delay] = AGAIN(task->sched_info.run_delay);
		r->queued_since = 0;
	}
}

static __always_inline void take_statistics(struct task_struct *task, struct iterator_record *r)
{
	TASK_STATISTICS(TAKE)
	if (!bpf_core_field_exists(task->stats.wait_start))
		return;
	r->wait_since = queueing(task) == 1 && !is_on_cpu(task) ? task->stats.wait_start : 0;
	r->sleep_since = task->stats.sleep_start;
	r->block_since = task->stats.block_start;
	if (r->counters[TASK_wait_sum] != AGAIN(task->stats.wait_sum)) {
		r->counters[TASK_wait_sum] = AGAIN(task->stats.wait_sum);
		r->wait_since = 0;
	}
	if (r->counters[TASK_sum_sleep_runtime] != AGAIN(task->stats.sum_sleep_runtime)) {
		r->counters[TASK_sum_sleep_runtime] = AGAIN(task->stats.sum_sleep_runtime);
		r->counters[TASK_sum_block_runtime] = AGAIN(task->stats.sum_block_runtime);
		r->counters[TASK_iowait_sum] = AGAIN(task->stats.iowait_sum);
		r->sleep_since = r->block_since = 0;
	}
}

#define TAKE_DELAY(category)                                                             \
	if (bpf_core_field_exists(delays->category##_delay)) {                           \
		r->counters[TASK_##category##_count] = delays->category##_count;         \
		r->counters[TASK_##category##_delay] = delays->category##_delay;         \
	}                                                                                \
	if (bpf_core_field_exists(delays->category##_delay_max)) {                       \
		r->counters[TASK_##category##_delay_max] = delays->category##_delay_max; \
		r->counters[TASK_##category##_delay_min] = delays->category##_delay_min; \
	}

/* A copy, since following the pointer directly makes the verifier search the kernel's BTF
 * (bpf/task.bpf.h). */
static __always_inline void take_delays(struct task_struct *task, struct iterator_record *r,
					struct task_batch *batch)
{
	struct task_delay_info *there = BPF_CORE_READ(task, delays);
	struct task_delay_info *delays = (struct task_delay_info *)batch->delays;
	__u32 bytes = bpf_core_type_size(struct task_delay_info), blkio_count;

	if (bytes > sizeof(batch->delays))
		bytes = sizeof(batch->delays);
	r->has_delays = there && !bpf_probe_read_kernel(delays, bytes, there);
	r->blkio_since = 0;
	if (!r->has_delays)
		return;
	TASK_DELAYS(TAKE_DELAY)
	/* The start is not wiped at the end: it counts while the thread still sleeps for I/O. */
	if (bpf_core_field_exists(delays->blkio_start) && r->in_iowait && task->__state &&
	    !queueing(task))
		r->blkio_since = delays->blkio_start;
	blkio_count = BPF_CORE_READ(there, blkio_count);
	if (r->counters[TASK_blkio_count] != blkio_count) {
		r->counters[TASK_blkio_count] = blkio_count;
		r->counters[TASK_blkio_delay] = BPF_CORE_READ(there, blkio_delay);
		r->blkio_since = 0;
	}
}

SEC("iter/task") int walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_batch *batch;
	struct iterator_record *r, *before;
	__u32 at, words = kernel.cpu_words, first = 0;

	batch = bpf_map_lookup_elem(&batches, &first);
	if (!task || !batch)
		return 0;
	at = batch->count;
	if (at >= TASK_BATCH)
		return 1;
	r = &batch->records[at];
	before = &batch->records[(at - 1) % TASK_BATCH];
	take_identity(task, r, batch);
	if (r->is_leader)
		fill_process(task, r);
	if (bpf_core_field_exists(task->cgroups->dfl_cgrp->kn->id))
		fill_cgroup(task, r, batch, before);
	take_thread_pointer(task, r);
	take_memory(task, r, batch, before);
	batch->last_tgid = r->tgid;
	take_times(task, r);
	TASK_COUNTERS(TAKE)
	take_waits(task, r);
	r->in_iowait = BPF_CORE_READ_BITFIELD(task, in_iowait);
	r->is_frozen = bpf_core_field_exists(task->frozen) && BPF_CORE_READ_BITFIELD(task, frozen);
	take_statistics(task, r);
	if (bpf_core_field_exists(task->delays))
		take_delays(task, r, batch);
	if (words > 1 && words <= TASK_CPU_WORDS)
		bpf_probe_read_kernel(batch->cpus[at], mask_bytes(words), &task->cpus_mask);
	else
		r->cpus = task->cpus_mask.bits[0];
	r->now = bpf_ktime_get_ns();
	batch->count = at + 1;
	return 0;
}

/* --- the kernel --- */

static __always_inline void note_counter(enum task_counter counter, int exists)
{
	if (exists)
		kernel.counters[counter / 64] |= 1ull << counter % 64;
}

static __always_inline void note(enum task_feature feature, int exists)
{
	if (exists)
		kernel.features |= 1ull << feature;
}

static __always_inline void describe_memory(void)
{
	struct mm_struct *mm = 0;
	struct mm_struct___old *old = (void *)mm;

	note(TASK_HAS_RSS, bpf_core_field_exists(mm->rss_stat[0].count) ||
				   bpf_core_field_exists(old->rss_stat.count));
}

/* Run once after loading, and some times more to compare the clocks. */
SEC("syscall") int describe(void *ctx)
{
	(void)ctx;
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_delay_info *delays = 0;
	__u32 words = kernel.cpu_words;

	kernel.arrived = task->sched_info.last_arrival;
	kernel.now = bpf_ktime_get_ns();
#define NOTE(counter, member) note_counter(TASK_##counter, bpf_core_field_exists(task->member));
	TASK_COUNTERS(NOTE)
	TASK_STATISTICS(NOTE)
#define NOTE_DELAY(category)                                                                    \
	note_counter(TASK_##category##_count, bpf_core_field_exists(delays->category##_count)); \
	note_counter(TASK_##category##_delay, bpf_core_field_exists(delays->category##_delay)); \
	note_counter(TASK_##category##_delay_max,                                               \
		     bpf_core_field_exists(delays->category##_delay_max));                      \
	note_counter(TASK_##category##_delay_min,                                               \
		     bpf_core_field_exists(delays->category##_delay_min));
	TASK_DELAYS(NOTE_DELAY)
	note(TASK_HAS_EXT_CLASS, &ext_sched_class != 0);
	describe_memory();
	note(TASK_HAS_QUEUED_SINCE, bpf_core_field_exists(task->sched_info.last_queued));
	note(TASK_HAS_BLKIO_SINCE, bpf_core_field_exists(delays->blkio_start));
	note(TASK_HAS_STATISTICS_SINCE, bpf_core_field_exists(task->stats.wait_start));
	note(TASK_HAS_SHOWN_TIMES, bpf_core_field_exists(task->prev_cputime));
	kernel.pid_level = BPF_CORE_READ(task, thread_pid, level);
	if (&__cpu_active_mask && words <= TASK_CPU_WORDS &&
	    !bpf_probe_read_kernel(kernel.active_cpus, mask_bytes(words), &__cpu_active_mask))
		note(TASK_HAS_ACTIVE_CPUS, 1);
	return 0;
}
