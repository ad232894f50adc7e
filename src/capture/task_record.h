/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The record of one thread from the task iterator: the BPF program fills it, user space reads it.
 *
 * COUNTER(name, member of struct task_struct) is a row for each number that is copied as it is. A
 * new one needs this row, and a row of metrics.def that names it.
 */
#ifndef CAPTURE_TASK_RECORD_H
#define CAPTURE_TASK_RECORD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* There for every thread. */
#define TASK_COUNTERS(COUNTER)                           \
	COUNTER(run_time, se.sum_exec_runtime)           \
	COUNTER(run_delay, sched_info.run_delay)         \
	COUNTER(run_count, sched_info.pcount)            \
	COUNTER(run_delay_max, sched_info.max_run_delay) \
	COUNTER(run_delay_min, sched_info.min_run_delay) \
	COUNTER(nvcsw, nvcsw)                            \
	COUNTER(nivcsw, nivcsw)                          \
	COUNTER(nr_migrations, se.nr_migrations)         \
	COUNTER(slice, se.slice)                         \
	COUNTER(min_flt, min_flt)                        \
	COUNTER(maj_flt, maj_flt)                        \
	COUNTER(rchar, ioac.rchar)                       \
	COUNTER(wchar, ioac.wchar)                       \
	COUNTER(syscr, ioac.syscr)                       \
	COUNTER(syscw, ioac.syscw)                       \
	COUNTER(read_bytes, ioac.read_bytes)             \
	COUNTER(write_bytes, ioac.write_bytes)           \
	COUNTER(cancelled_write_bytes, ioac.cancelled_write_bytes)

/* Members of struct sched_statistics, which are valid while kernel.sched_schedstats is 1. */
#define TASK_STATISTICS(COUNTER)                                                  \
	COUNTER(nr_wakeups, stats.nr_wakeups)                                     \
	COUNTER(nr_wakeups_local, stats.nr_wakeups_local)                         \
	COUNTER(nr_wakeups_remote, stats.nr_wakeups_remote)                       \
	COUNTER(nr_wakeups_sync, stats.nr_wakeups_sync)                           \
	COUNTER(nr_wakeups_migrate, stats.nr_wakeups_migrate)                     \
	COUNTER(nr_wakeups_affine, stats.nr_wakeups_affine)                       \
	COUNTER(nr_wakeups_affine_attempts, stats.nr_wakeups_affine_attempts)     \
	COUNTER(nr_forced_migrations, stats.nr_forced_migrations)                 \
	COUNTER(nr_failed_migrations_affine, stats.nr_failed_migrations_affine)   \
	COUNTER(nr_failed_migrations_running, stats.nr_failed_migrations_running) \
	COUNTER(nr_failed_migrations_hot, stats.nr_failed_migrations_hot)         \
	COUNTER(wait_sum, stats.wait_sum)                                         \
	COUNTER(wait_count, stats.wait_count)                                     \
	COUNTER(wait_max, stats.wait_max)                                         \
	COUNTER(sum_sleep_runtime, stats.sum_sleep_runtime)                       \
	COUNTER(sleep_max, stats.sleep_max)                                       \
	COUNTER(sum_block_runtime, stats.sum_block_runtime)                       \
	COUNTER(block_max, stats.block_max)                                       \
	COUNTER(iowait_sum, stats.iowait_sum)                                     \
	COUNTER(iowait_count, stats.iowait_count)                                 \
	COUNTER(exec_max, stats.exec_max)                                         \
	COUNTER(slice_max, stats.slice_max)                                       \
	COUNTER(core_forceidle_sum, stats.core_forceidle_sum)

/* Members of struct task_delay_info, for threads that have one: DELAY(category). Each makes four.
 */
#define TASK_DELAYS(DELAY) \
	DELAY(blkio)       \
	DELAY(swapin)      \
	DELAY(freepages)   \
	DELAY(thrashing)   \
	DELAY(compact)     \
	DELAY(wpcopy)      \
	DELAY(irq)

enum task_counter {
#define COUNTER_ENUM(name, ...) TASK_##name,
	TASK_COUNTERS(COUNTER_ENUM) TASK_STATISTICS(COUNTER_ENUM)
#undef COUNTER_ENUM
#define DELAY_ENUM(category)                                                           \
	TASK_##category##_count, TASK_##category##_delay, TASK_##category##_delay_max, \
		TASK_##category##_delay_min,
		TASK_DELAYS(DELAY_ENUM)
#undef DELAY_ENUM
			TASK_COUNTER_COUNT
};

/* The longest thread name in /proc (fs/proc/array.c, proc_task_name). */
#define TASK_NAME_MAX 64

/* Times are those of the scheduler's clock, but for `now`: CLOCK_MONOTONIC. A start of 0 is none.
 */
struct iterator_record {
	__u32 tid, tgid;             /* as our PID namespace numbers them */
	__u32 parent, euid, threads; /* of leaders */
	__u32 kernel_flags;          /* PF_* */
	__u32 state, exit_state;
	__s32 priority, static_priority;
	__u32 rt_priority, policy, cpu;
	__u8 is_leader, has_delays, has_mm, in_iowait, is_ext, is_frozen;
	__u64 start_boottime;
	__u64 utime, stime, shown_utime, shown_stime;
	__u64 cgroup;         /* id of its cgroup of version 2 */
	__u64 thread_pointer; /* where its thread-local storage is; 0: unknown */
	__u64 cpus;           /* it may run on, the first 64 */
	__u64 hiwater_rss, rss, hiwater_vm, total_vm, exec_vm; /* pages */
	__u64 program; /* the same number: the same executable file, while both processes live */
	__u64 program_inode;  /* of that file */
	__u32 program_device; /* the file system's, as in the kernel: major << 20 | minor */
	__u64 now;            /* when it was read */
	__u64 queued_asleep;  /* it sleeps, and the kernel has it waiting for a CPU since then */
	__u64 queued_since, blkio_since, wait_since, sleep_since, block_since;
	char name[TASK_NAME_MAX];
	__u64 counters[TASK_COUNTER_COUNT];
};

/* The number of records that the program passes at a time. */
#define TASK_BATCH 256

/* 64 CPUs in each: NR_CPUS is 8192 at most (arch/x86/Kconfig). */
#define TASK_CPU_WORDS 128

/* More than struct task_delay_info has. */
#define TASK_DELAY_WORDS 64

/* The batch as user space sees it. User space sets `count` to 0 when it has taken the records. */
struct task_batch {
	__u32 count;
	__u32 is_ext_on; /* set by user space: a scheduler of sched_ext may be on */
	/* The program's own: of the thread before. */
	__u32 last_tgid;
	__u64 last_css_set, last_mm;
	__u64 delays[TASK_DELAY_WORDS]; /* of the thread, a copy of the kernel's */
	struct iterator_record records[TASK_BATCH];
	__u64 cpus[TASK_BATCH][TASK_CPU_WORDS]; /* where 64 are not enough */
};

/* Features of a kernel beyond the counters. */
enum task_feature {
	TASK_HAS_EXT_CLASS,   /* threads of sched_ext can be told from others */
	TASK_HAS_ACTIVE_CPUS, /* the mask of active CPUs could be read */
	TASK_HAS_RSS,
	TASK_HAS_QUEUED_SINCE,
	TASK_HAS_BLKIO_SINCE,
	TASK_HAS_STATISTICS_SINCE,
	TASK_HAS_SHOWN_TIMES,
	TASK_FEATURE_COUNT
};

/* The output of the program `describe`: facts about the running kernel and the calling thread. */
struct task_kernel {
	__u32 cpu_words; /* set by user space: words of 64 CPUs that the host may have */
	__u32 pid_level; /* depth of its PID namespace */
	__u64 counters[(TASK_COUNTER_COUNT + 63) / 64]; /* a bit for each that there is */
	__u64 features;
	__u64 arrived; /* when the thread that asks was put on its CPU: scheduler's clock */
	__u64 now;     /* CLOCK_MONOTONIC */
	__u64 active_cpus[TASK_CPU_WORDS];
};

#endif
