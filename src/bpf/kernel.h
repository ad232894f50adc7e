/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The kernel's types as far as our programs read them, for CO-RE.
 *
 * Only members that are read are declared; their offsets and sizes are taken from the BTF of the
 * running kernel when a program is loaded. Members and types that some kernels lack are asked about
 * before they are read (bpf_core_field_exists), so one object serves all kernels, and the machine
 * that builds it needs no BTF.
 */
#ifndef BPF_KERNEL_H
#define BPF_KERNEL_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define false 0
#define true 1

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1 << 0, BPF_F_USER_STACK = 1 << 8, BPF_F_MMAPABLE = 1 << 10 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 << 0 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/linux/sched.h. Where numbers are wider or narrower on another kernel, loads are adjusted;
 * but for signed ones, so what may change is unsigned here. */
struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay, max_run_delay, min_run_delay, last_arrival, last_queued;
};

struct sched_entity {
	unsigned char sched_delayed;
	__u64 exec_start, sum_exec_runtime, nr_migrations, slice;
};

/* Without CONFIG_SCHEDSTATS it is empty. */
struct sched_statistics {
	__u64 wait_start, wait_max, wait_count, wait_sum, iowait_count, iowait_sum, sleep_start,
		sleep_max, sum_sleep_runtime, block_start, block_max, sum_block_runtime, exec_max,
		slice_max, nr_failed_migrations_affine, nr_failed_migrations_running,
		nr_failed_migrations_hot, nr_forced_migrations, nr_wakeups, nr_wakeups_sync,
		nr_wakeups_migrate, nr_wakeups_local, nr_wakeups_remote, nr_wakeups_affine,
		nr_wakeups_affine_attempts, core_forceidle_sum;
};

struct prev_cputime {
	__u64 utime, stime;
};

/* include/linux/task_io_accounting.h */
struct task_io_accounting {
	__u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

/* include/linux/delayacct.h */
#define DELAY_MEMBERS(category)                                             \
	__u64 category##_delay, category##_delay_max, category##_delay_min; \
	__u32 category##_count;

struct task_delay_info {
	__u64 blkio_start;
	DELAY_MEMBERS(blkio)
	DELAY_MEMBERS(swapin)
	DELAY_MEMBERS(freepages)
	DELAY_MEMBERS(thrashing)
	DELAY_MEMBERS(compact)
	DELAY_MEMBERS(wpcopy)
	DELAY_MEMBERS(irq)
};

/* include/linux/cpumask.h */
struct cpumask {
	unsigned long bits[1];
};

struct thread_info {
	__u32 cpu;
	unsigned int status; /* x86 alone has it */
};

/* include/linux/fdtable.h, include/linux/fs.h */
struct super_block {
	__u32 s_dev;
};

struct inode {
	__u16 i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct timespec64 {
	__u64 tv_sec;
	unsigned long tv_nsec;
};

/* Before Linux 6.6, before 6.11, and since then. */
struct inode___old_times {
	struct timespec64 i_ctime;
};

struct inode___new_times {
	struct timespec64 __i_ctime;
};

struct inode___split_times {
	__u64 i_ctime_sec;
	__u32 i_ctime_nsec;
};

struct file {
	const void *f_op;
	struct inode *f_inode;
};

struct kiocb {
	struct file *ki_filp;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

/* include/linux/pid.h: `numbers` has one more for each level of namespaces. */
struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct kernfs_node {
	__u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

/* include/linux/mm_types.h. From Linux 6.2 on each counter is one of struct percpu_counter. */
typedef struct {
	__s64 counter;
} atomic_long_t;

struct percpu_counter {
	__s64 count;
};

typedef struct {
	void *vdso;
} mm_context_t;

/* include/linux/maple_tree.h, Linux 6.1 */
struct maple_tree {
	void *ma_root;
};

enum maple_type { maple_dense, maple_leaf_64, maple_range_64, maple_arange_64 };

struct maple_range_64 {
	void *slot[16];
};

struct maple_arange_64 {
	void *slot[10];
};

struct list_head {
	struct list_head *next;
};

struct mutex {
	atomic_long_t owner;
};

struct rw_semaphore {
	atomic_long_t owner;
	struct list_head wait_list;
};

/* kernel/locking/rwsem.c */
struct rwsem_waiter {
	struct list_head list;
	struct task_struct *task;
};

/* Linux 7.2: the waiters are a circle without a head. */
struct rw_semaphore___circle {
	struct rwsem_waiter *first_waiter;
};

struct mm_struct {
	struct maple_tree mm_mt;
	struct rw_semaphore mmap_lock;
	unsigned long hiwater_rss, hiwater_vm, total_vm, exec_vm;
	struct file *exe_file;
	struct percpu_counter rss_stat[4];
	mm_context_t context;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags, vm_pgoff;
	struct file *vm_file;
};

struct mm_rss_stat {
	atomic_long_t count[4];
};

struct mm_struct___old {
	struct mm_rss_stat rss_stat;
};

struct signal_struct {
	int nr_threads;
};

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t euid;
};

/* arch/x86/include/asm/processor.h; the other is of arch/arm64. */
struct thread_struct {
	unsigned long fsbase;
};

struct user_context___arm64 {
	unsigned long tp_value;
};

struct thread_struct___arm64 {
	struct user_context___arm64 uw;
};

struct sched_class;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	int exit_state;
	int exit_code;
	unsigned int flags;
	unsigned int on_cpu, on_rq; /* signed, or a byte: read as task.bpf.h does */
	int prio, static_prio;
	unsigned int rt_priority, policy;
	const struct sched_class *sched_class;
	struct sched_entity se;
	struct sched_statistics stats;
	struct cpumask cpus_mask;
	struct sched_info sched_info;
	struct mm_struct *mm;
	unsigned in_execve : 1;
	unsigned in_iowait : 1;
	unsigned frozen : 1;
	int pid, tgid;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	__u64 utime, stime;
	struct prev_cputime prev_cputime;
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
	__u64 start_time;
	__u64 start_boottime;
	const struct cred *cred;
	char comm[16];
	struct signal_struct *signal;
	struct task_io_accounting ioac;
	struct task_delay_info *delays;
	unsigned long blocker; /* a lock, and its kind in the lowest bits */
	struct css_set *cgroups;
	struct files_struct *files;
	void *worker_private;
	struct thread_struct thread;
};

struct task_struct___arm64 {
	struct thread_struct___arm64 thread;
};

/* arch/x86/include/asm/ptrace.h; the other is of arch/arm64. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip;
	__u16 cs;
	unsigned long sp;
};

struct pt_regs___arm64 {
	__u64 regs[31], sp, pc, orig_x0;
	__s32 syscallno;
};

/* kernel/kthread.c, kernel/workqueue_internal.h: what a kernel thread is really called. */
struct kthread {
	void *data;
	char *full_name;
};

struct worker {
	void *current_work, *pool;
	char desc[32];
};

struct seq_file;

#pragma clang attribute pop

/* The argument of an iterator. It is the same in all kernels (include/linux/bpf.h), so it is not
 * relocated. */
struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#endif
