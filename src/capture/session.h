/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a capture in progress, shared by its parts.
 */
#ifndef CAPTURE_SESSION_H
#define CAPTURE_SESSION_H

#include <errno.h>
#include <semaphore.h>

#include "base/file.h"
#include "capture/capture.h"
#include "capture/cgroup_ids.h"
#include "capture/heap.h"
#include "capture/leader_files.h"
#include "capture/leader_guard.h"
#include "capture/task_iterator.h"
#include "capture/thread_files.h"
#include "capture/thread_task.h"
#include "os/cgroup.h"
#include "os/cgroup_tree.h"
#include "os/tasks.h"
#include "os/taskstats_socket.h"

/*
 * The kinds of file whose failures are counted:
 *
 *	KIND(id, source, name, is the name known to the format's summary, what reading needs)
 *
 * `source` is what the registry (metric/metric.h) calls a file of a thread, and NONE for others.
 * Threads' files are read, and failures written to files, in this order.
 */
#define PROC_GRANT   "root, or hidepid=0 on /proc"
#define PTRACE_GRANT "CAP_SYS_PTRACE over the process"
#define FILE_KINDS(KIND)                                                  \
	KIND(STAT, STAT, "stat", true, PROC_GRANT)                        \
	KIND(SCHEDSTAT, SCHEDSTAT, "schedstat", true, PROC_GRANT)         \
	KIND(IO, IO, "io", true, PTRACE_GRANT " and CAP_DAC_READ_SEARCH") \
	KIND(STATUS, STATUS, "status", true, PROC_GRANT)                  \
	KIND(SCHED, SCHED, "sched", true, PROC_GRANT)                     \
	KIND(CGROUP, NONE, "cgroup", true, PROC_GRANT)                    \
	KIND(SMAPS, NONE, "smaps_rollup", true, PTRACE_GRANT)             \
	KIND(EXE, NONE, "exe", false, PTRACE_GRANT)                       \
	KIND(CMDLINE, NONE, "cmdline", false, PTRACE_GRANT)               \
	KIND(TASKSTATS, NONE, "taskstats", false, "CAP_NET_ADMIN")        \
	KIND(PRESSURE, NONE, "pressure", false, "root")                   \
	KIND(HOST, NONE, "host", false, "root")

enum file_kind {
#define KIND(id, ...) FILE_##id,
	FILE_KINDS(KIND)
#undef KIND
		FILE_KIND_COUNT
};

struct file_kind_info {
	enum metric_source_id source;
	const char *name, *grant;
	bool in_summary;
};
extern const struct file_kind_info file_kinds[FILE_KIND_COUNT];

/* State that stays from one capture to the next. */
struct capturer {
	const struct capture_options *options;
	struct task_iterator *tasks; /* NULL: threads are read from /proc */
	char *why_not_bpf;
	/* capturer_open_beside() */
	bool is_opening; /* another thread sets the two above, and `open_error` */
	sem_t opened;
	struct error *open_error;
	uint64_t taken; /* how many captures, with the present one */
	struct cgroup_ids cgroup_ids;
	struct leader_hangs hangs;  /* earlier readers that hang in a process */
	struct leader_guard *guard; /* NULL: not used yet */
	struct heap *heap;          /* NULL: not used yet */
	bool gaps_known;            /* it is known what the iterator lacks ... */
	unsigned sources; /* ... and where that is read: a bit for each enum metric_source_id */
	char *gaps;       /* the same in words; NULL: it lacks nothing */
};

/* A process that the walk passed; its files are taken when that is over. */
struct leader {
	struct ctprof_thread *thread;
	struct process process;
	bool has_memory;
};

/* The thread pointer of a thread. */
struct thread_pointer {
	uint32_t tid; /* first: it is searched by */
	uint64_t value;
};

/* The sources that are files of a thread: a bit for each enum metric_source_id. */
#define CAPTURE_FILES             ((0u FILE_KINDS(KIND_BIT)) & ~(1u << SOURCE_NONE))
#define KIND_BIT(id, source, ...) | (1u << SOURCE_##source)

/* Counts of what was read, and of what was not. */
struct capture_counts {
	uint64_t walked, lost; /* threads; those that were gone before all was read */
	uint64_t processes_denied;
	uint64_t not_reached; /* left out for want of time: 0, and the capture is complete */
	uint64_t failed[FILE_KIND_COUNT], denied[FILE_KIND_COUNT]; /* the failed with the denied */
	struct {
		uint64_t ok, denied, gone, other;
	} stats; /* replies of taskstats */
};

struct capture {
	struct capturer *capturer;
	const struct capture_options *options;
	struct ctprof_snapshot *snapshot;
	struct plan plan;
	struct taker taker;
	unsigned sources; /* what is read of each thread: a bit for each enum metric_source_id */
	struct task_plan task_plan;
	__u64 online_cpus[TASK_CPU_WORDS]; /* where the plan has them from here */
	struct {
		ARRAY(struct leader);
	} leaders;
	struct leader_files *early; /* of processes, read from the start; NULL: none */
	struct {
		ARRAY(struct thread_pointer);
	} pointers;          /* ascending */
	size_t next_pointer; /* behind the one that was asked for last */
	struct {
		ARRAY(struct heap_image);
	} images;             /* of the processes that the iterator passed, ascending */
	struct tids seen;     /* processes that the iterator passed, ascending */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
	struct capture_counts counts;
	uint64_t hidden; /* threads that the task iterator does not show */
	struct file_buffer buffer;
	int proc, sys; /* root directories; -1: there is none */
	struct cgroup_tree cgroups;
	const struct name *cgroup_top; /* of options->cgroup, as /proc names it; NULL: all */
	bool ours;                     /* `proc` is of our own PID namespace */
	struct tids pids;              /* thread groups to visit; by BPF, those of /proc */
	struct process leader;         /* facts of the process whose leader is being read */
	int shortage;                  /* errno that ends the capture: it would only be a part */
	/* taskstats */
	struct taskstats_socket *socket; /* NULL: none */
	bool silent;                     /* it does not answer: nothing more is asked */
	enum delay_accounting delays;
	bool irq_accounting;
	struct ctprof_thread *batch[TASKSTATS_BATCH_MAX];
	size_t batched;
	uint16_t stats_version;
	struct probe_summary probe; /* of jemalloc's counters */
};

/* Roots, mounts, and what the kernel accounts (roots.c). */
struct error *capture_open_roots(struct capture *c) MUST_CHECK;

/* All thread groups that there are, but for the one to skip, ascending; returns an errno (walk.c).
 */
int capture_list_processes(struct capture *c);

/* Are there processes to visit, rather than all? */
static inline bool capture_is_of_some(const struct capture *c)
{
	return c->options->pid_count || c->options->comm;
}

/* The thread groups to visit; fails for a target that is not there (walk.c). */
struct error *capture_find_targets(struct capture *c) MUST_CHECK;

/* Every thread of every process (walk.c). */
struct error *capture_walk(struct capture *c) MUST_CHECK;

/* Visit a process; `tids` is a buffer (walk.c). */
struct error *capture_visit_process(struct capture *c, uint32_t tgid, struct tids *tids) MUST_CHECK;

/* The same by the capturer's task iterator (task_walk.c). Threads are in order then. */
struct error *capture_tasks(struct capture *c) MUST_CHECK;

/* The number of threads by the kernel's own count; 0: unknown (task_walk.c). */
uint64_t capture_threads_of_kernel(struct capture *c);

static inline bool capture_wants(const struct capture *c, enum capture_part part)
{
	return !(c->options->without >> part & 1);
}

/* Start to read the files of processes whose reading may hang. After a walk, take those of
 * c->leaders into the snapshot, and read what capture_start_leaders() did not (leaders.c). */
struct error *capture_start_leaders(struct capture *c) MUST_CHECK;
struct error *capture_leaders(struct capture *c) MUST_CHECK;

/* Has the time passed that the caller gave us (capture.c)? */
bool capture_is_late(const struct capture *c);

/* The name of a process by its number; "" when it is gone; NULL without memory (walk.c). */
const struct name *capture_process_name(struct capture *c, uint32_t tgid);

/* The outcome of reading a thread. */
enum thread_fate {
	THREAD_KEPT,
	THREAD_GONE,
	THREAD_OUTSIDE,  /* of the target */
	THREAD_SHORTAGE, /* we lack memory or descriptors: the errno is in c->shortage */
};

/* Read the files of a thread in its directory (thread.c), except those of leaders.c. */
enum thread_fate capture_thread(struct capture *c, int dir, struct ctprof_thread *thread);

/* Read only the files in c->sources, and skip values that are measured already (thread.c). */
enum thread_fate capture_thread_files(struct capture *c, int dir, struct ctprof_thread *thread);

/* The kinds of memory of a process, on its leader (thread.c). */
void capture_take_smaps(struct capture *c, struct leader_file_bytes file,
			struct ctprof_thread *thread);

/* The cgroup of a thread by its number; "" when it is gone; NULL without memory (thread.c). */
const struct name *capture_cgroup_path(struct capture *c, uint32_t tid);

/* Keep the process c->leader, with its executable and command line (thread.c). */
struct error *capture_take_process(struct capture *c, struct leader_file_bytes exe,
				   struct leader_file_bytes cmdline) MUST_CHECK;

/* Find out which delays the kernel accounts (delays.c). */
void capture_find_accounting(struct capture *c);

/* Delay accounting (delays.c): open the source, queue a thread, ask for what is queued; ask for one
 * alone. A thread that turns out to be gone gets tid 0. */
void capture_open_delays(struct capture *c);
void capture_queue_delays(struct capture *c, struct ctprof_thread *thread);
void capture_flush_delays(struct capture *c);
void capture_delays_of(struct capture *c, struct ctprof_thread *thread);

/* Cgroup statistics of all cgroups that threads are in (cgroups.c). */
struct error *capture_cgroups(struct capture *c) MUST_CHECK;

/* Read the kernel's counters of the whole host (counters.c). */
struct error *capture_counters(struct capture *c) MUST_CHECK;

/* Names of the users of the processes (users.c). */
struct error *capture_users(struct capture *c) MUST_CHECK;

/* Host context (host.c); and then, right before what changes all the time is read, the moment of
 * the capture: the time of day, and how long the host has been up. */
struct error *capture_host(struct capture *c) MUST_CHECK;
void capture_timestamp(struct capture *c);

/* Read the state of sched_ext (host.c). */
struct error *capture_sched_ext(struct capture *c) MUST_CHECK;

/* Pressure of the host; and that of the files PREFIX<resource>SUFFIX below `dir` (pressure.c). */
void capture_pressure(struct capture *c);
void capture_psi(struct capture *c, int dir, const char *prefix, const char *suffix,
		 struct psi *ret);

/* The kernel and the controllers of each cgroup determine which files exist: a missing file, or one
 * that nothing serves, is not a failure. */
static inline bool capture_is_absent(int failed)
{
	return failed == ENOENT || failed == ENODEV || failed == EOPNOTSUPP;
}

/* The summaries of the format (summary.c). */
struct error *capture_summaries(struct capture *c) MUST_CHECK;

/* Replace what names people and machines by hashes (redact.c). */
struct error *capture_redact(struct ctprof_snapshot *snapshot) MUST_CHECK;

/* Count a failed read of a file whose thread is still there. */
static inline void capture_count(struct capture *c, enum file_kind kind, int failed)
{
	if (file_is_shortage(failed))
		c->shortage = failed;
	if (failed == EACCES || failed == EPERM)
		c->counts.denied[kind]++;
	c->counts.failed[kind]++;
}

#endif
