/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder store/: ctprof's tables in ClickHouse. tables.h has a row for each column, from which
 * the schema, the rows that are inserted and the rows that are read are made.
 */

/*
 * The tables, and their columns in the order in which RowBinary has them.
 *
 * Times are the beginning of an interval in Unix seconds (DateTime, UTC); `ms` is how long it was.
 * Texts are LowCardinality(String) where values repeat. `facts` is the row of `hosts` that was true
 * in the interval: a hash of the host's labels and kernel and the agent's version; 0 in rows of
 * agents that knew no such column.
 */
#ifndef STORE_TABLES_H
#define STORE_TABLES_H

#include <stdbool.h>
#include <stddef.h>

/* The version of the schema. It is in the table `schema_version`. */
#define STORE_VERSION 2

/* TYPE(id, its name in ClickHouse, codec of current servers) */
#define STORE_TYPES(TYPE)                                       \
	TYPE(TIME, "DateTime('UTC')", "DoubleDelta, ZSTD(1)")   \
	TYPE(TEXT, "LowCardinality(String)", "ZSTD(1)")         \
	TYPE(STRING, "String", "ZSTD(1)")                       \
	TYPE(U8, "UInt8", "ZSTD(1)")                            \
	TYPE(U32, "UInt32", "ZSTD(3)")                          \
	TYPE(U64, "UInt64", "ZSTD(3)")                          \
	TYPE(I64, "Int64", "T64, ZSTD(3)")                      \
	TYPE(SUM32, "UInt32", "T64, ZSTD(3)")                   \
	TYPE(SUM64, "UInt64", "T64, ZSTD(3)")                   \
	TYPE(TEXTS, "Array(LowCardinality(String))", "ZSTD(1)") \
	TYPE(U8S, "Array(UInt8)", "ZSTD(1)")                    \
	TYPE(U32S, "Array(UInt32)", "ZSTD(1)")

enum store_type {
#define TYPE_ENUM(id, name, codec) STORE_##id,
	STORE_TYPES(TYPE_ENUM)
#undef TYPE_ENUM
		STORE_TYPE_COUNT
};

/* clang-format off */

/*
 * What a program did off and on CPUs, by stack: the sum over its threads with this name in this
 * cgroup. `class` and `state` are names of profile/class.h and state/state.h; `stack` 0: none.
 * `longest_ns`: the longest of these waits; 0: unknown.
 */
#define STORE_SAMPLES(C)                                                                        \
	C(TEXT, host)                                                                           \
	C(TIME, t) C(TEXT, process) C(TEXT, comm) C(TEXT, cgroup) C(TEXT, class) C(TEXT, state) \
		C(U64, stack) C(U64, facts) C(SUM64, ns) C(SUM32, count) C(SUM64, longest_ns)

/*
 * Each stack once, callers first. `hash` is that of stack_hash.h. kinds: enum frame_kind, and 128
 * for inlined frames. What is not known of a frame is "" or 0.
 */
#define STORE_STACKS(C)                                                                      \
	C(U64, hash)                                                                         \
	C(TIME, seen) C(TEXTS, functions) C(TEXTS, modules) C(TEXTS, sources) C(U32S, lines) \
		C(U8S, kinds)

/*
 * The states of all threads of a program, idle ones too: the columns add up to threads x `ms`.
 * Beside these it has a column for each state of state/state.h, in nanoseconds ("exec_ns"), as
 * measured: one that has parts has only the time that is in none of them.
 */
#define STORE_STATES(C) \
	C(TEXT, host)   \
	C(TIME, t) C(U32, ms) C(TEXT, process) C(TEXT, comm) C(TEXT, cgroup) C(U64, facts) \
		C(U32, threads)

/*
 * The counters of a thread that did something in the interval. Beside these it has a column for
 * each metric of metric/metrics.def: of totals the change in the interval, of others the value at
 * its end. left_out.h has what is rounded, and what is left out since others tell it. Bit n of
 * measured0 (n - 64 of measured1) says whether the metric with this number in `metrics` of the
 * schema was measured. `started` identifies the thread with tid, in clock ticks since the boot.
 */
#define STORE_THREADS(C)                                                                  \
	C(TEXT, host)                                                                     \
	C(TIME, t) C(U32, ms) C(TEXT, process) C(TEXT, comm) C(TEXT, cgroup) C(U32, tgid) \
		C(U32, tid) C(U32, uid) C(U64, started) C(U64, facts) C(U64, measured0)   \
			C(U64, measured1)

/* A host and its boot, anew with each change of its `facts`. Labels are those of the agent's
 * configuration. */
#define STORE_HOSTS(C)                                                                \
	C(TEXT, host)                                                                 \
	C(TIME, seen) C(TEXT, boot) C(U64, facts) C(TIME, booted) C(TEXT, kernel) C(TEXT, arch)     \
		C(TEXT, cpu_model) C(U32, cpus) C(U64, memory_bytes) C(TEXT, version) \
			C(U32, interval_ms) C(TEXTS, label_names) C(TEXTS, label_values)

/* Pressure and load of a host. Pressures are ns of the interval. Bit n of `measured` is that of the
 * column n behind `ms`. */
#define STORE_LOADS(C)                                                                          \
	C(TEXT, host)                                                                           \
	C(TIME, t) C(U64, facts) C(U32, ms) C(U64, cpu_ns) C(U64, memory_available_bytes)       \
		C(U64, cpu_some_ns) C(U64, memory_some_ns) C(U64, memory_full_ns) C(U64, io_some_ns)                \
			C(U64, io_full_ns) C(U64, irq_full_ns) C(U32, load_hundredths)          \
				C(U32, threads) C(U64, agent_cpu_ns) C(U64, agent_memory_bytes) \
					C(U64, bpf_ns) C(U64, measured)

/* Cgroups that did something. Totals are changes in the interval. Bit n of `measured` is that of the
 * column n behind `cgroup`. memory_max_bytes is 0 where there is no limit. */
#define STORE_CGROUPS(C)                                                                           \
	C(TEXT, host)                                                                              \
	C(TIME, t) C(U64, facts) C(U32, ms) C(TEXT, cgroup) C(U64, cpu_ns) C(U64, throttled_ns)                  \
		C(U32, throttled) C(U64, memory_bytes) C(U64, memory_max_bytes) C(U64, read_bytes) \
			C(U64, written_bytes) C(U64, cpu_some_ns) C(U64, memory_full_ns)           \
				C(U64, io_full_ns) C(U32, pids) C(U64, measured)

/* What is known of a cgroup: "pod", "container", "namespace", "image", "unit". `labels` is a hash of
 * these: a path that is used again by another container has a row for each. */
#define STORE_CGROUP_LABELS(C)                                                           \
	C(TEXT, host)                                                                    \
	C(TEXT, cgroup) C(TIME, seen) C(U64, labels) C(TEXT, container) C(TEXT, pod)     \
		C(TEXT, namespace) C(TEXT, image) C(TEXT, unit)

/*
 * What did not reach a store, or was not measured: `what` is "rows of threads", "intervals", ...
 * `why` is "spool full", "refused", ...
 */
#define STORE_LOSSES(C) \
	C(TEXT, host) C(TIME, t) C(TEXT, sink) C(TEXT, what) C(TEXT, why) C(U64, count)

/* The places of columns in their tables: SAMPLES_stack, ... The states of STATES begin at
 * STATES_COUNT, the metrics of THREADS at THREADS_COUNT. */
#define SAMPLES_PLACE(type, name) SAMPLES_##name,
enum { STORE_SAMPLES(SAMPLES_PLACE) SAMPLES_COUNT };
#define STACKS_PLACE(type, name) STACKS_##name,
enum { STORE_STACKS(STACKS_PLACE) STACKS_COUNT };
#define STATES_PLACE(type, name) STATES_##name,
enum { STORE_STATES(STATES_PLACE) STATES_COUNT };
#define THREADS_PLACE(type, name) THREADS_##name,
enum { STORE_THREADS(THREADS_PLACE) THREADS_COUNT };
#define HOSTS_PLACE(type, name) HOSTS_##name,
enum { STORE_HOSTS(HOSTS_PLACE) HOSTS_COUNT };
#define LOADS_PLACE(type, name) LOADS_##name,
enum { STORE_LOADS(LOADS_PLACE) LOADS_COUNT };
#define CGROUPS_PLACE(type, name) CGROUPS_##name,
enum { STORE_CGROUPS(CGROUPS_PLACE) CGROUPS_COUNT };
#define CGROUP_LABELS_PLACE(type, name) CGROUP_LABELS_##name,
enum { STORE_CGROUP_LABELS(CGROUP_LABELS_PLACE) CGROUP_LABELS_COUNT };
#define LOSSES_PLACE(type, name) LOSSES_##name,
enum { STORE_LOSSES(LOSSES_PLACE) LOSSES_COUNT };

/*
 * The metrics in the order of their bits in measured0 and measured1, which are the same for all
 * versions: the name of a new one comes at the end, that of one that is gone stays. The table
 * `metrics` has these numbers.
 */
#define STORE_METRICS(M)                                                                       \
	M(thread_count) M(policy) M(nice) M(priority) M(rt_priority) M(cpu_affinity)           \
	M(processor) M(state) M(ext_enabled) M(nr_threads) M(run_time_ns)                      \
	M(wait_time_ns) M(timeslices) M(voluntary_csw) M(nonvoluntary_csw)                     \
	M(nr_wakeups) M(nr_wakeups_local) M(nr_wakeups_remote) M(nr_wakeups_sync)              \
	M(nr_wakeups_migrate) M(nr_wakeups_affine) M(nr_wakeups_affine_attempts)               \
	M(nr_migrations) M(nr_forced_migrations) M(nr_failed_migrations_affine)                \
	M(nr_failed_migrations_running) M(nr_failed_migrations_hot) M(wait_sum)                \
	M(wait_count) M(wait_max) M(voluntary_sleep_ns) M(sleep_max) M(block_sum)              \
	M(block_max) M(kthread_block_sum) M(kthread_block_max) M(iowait_sum)                   \
	M(iowait_count) M(exec_max) M(slice_max) M(core_forceidle_sum)                         \
	M(fair_slice_ns) M(wait_in_progress_ns) M(wait_sum_in_progress_ns)                     \
	M(sleep_in_progress_ns) M(block_in_progress_ns)                                        \
	M(kthread_block_in_progress_ns) M(iowait_in_progress_ns)                               \
	M(blkio_in_progress_ns) M(allocated_bytes) M(deallocated_bytes) M(minflt)              \
	M(majflt) M(utime_clock_ticks) M(stime_clock_ticks) M(rchar) M(wchar)                  \
	M(syscr) M(syscw) M(read_bytes) M(write_bytes) M(cancelled_write_bytes)                \
	M(cpu_delay_count) M(cpu_delay_total_ns) M(cpu_delay_max_ns)                           \
	M(cpu_delay_min_ns) M(blkio_delay_count) M(blkio_delay_total_ns)                       \
	M(blkio_delay_max_ns) M(blkio_delay_min_ns) M(swapin_delay_count)                      \
	M(swapin_delay_total_ns) M(swapin_delay_max_ns) M(swapin_delay_min_ns)                 \
	M(freepages_delay_count) M(freepages_delay_total_ns)                                   \
	M(freepages_delay_max_ns) M(freepages_delay_min_ns) M(thrashing_delay_count)           \
	M(thrashing_delay_total_ns) M(thrashing_delay_max_ns)                                  \
	M(thrashing_delay_min_ns) M(compact_delay_count) M(compact_delay_total_ns)             \
	M(compact_delay_max_ns) M(compact_delay_min_ns) M(wpcopy_delay_count)                  \
	M(wpcopy_delay_total_ns) M(wpcopy_delay_max_ns) M(wpcopy_delay_min_ns)                 \
	M(irq_delay_count) M(irq_delay_total_ns) M(irq_delay_max_ns)                           \
	M(irq_delay_min_ns) M(hiwater_rss_bytes) M(hiwater_vm_bytes) M(state_exec_ns)          \
	M(state_exec_user_ns) M(state_exec_system_ns) M(state_runnable_ns)                     \
	M(state_paging_ns) M(state_sleep_ns) M(state_sleep_disk_ns)                            \
	M(state_sleep_network_ns) M(state_sleep_pipe_ns) M(state_sleep_timer_ns)               \
	M(state_sleep_child_ns) M(state_sleep_other_ns) M(state_lock_ns)                       \
	M(state_lock_futex_ns) M(state_lock_kernel_ns) M(state_idle_ns)                        \
	M(state_idle_poll_ns) M(state_idle_cond_ns) M(state_idle_accept_ns)                    \
	M(state_idle_worker_ns) M(state_stopped_ns) M(state_watched_ns)                        \
	M(state_switches) M(state_now) M(state_now_ns)

enum {
#define METRIC_BIT(name) STORE_BIT_##name,
	STORE_METRICS(METRIC_BIT)
#undef METRIC_BIT
	STORE_METRIC_COUNT
};
#define STORE_METRIC_BITS 128
_Static_assert(STORE_METRIC_COUNT <= STORE_METRIC_BITS, "threads has no column for this bit");

/* clang-format on */

/* TABLE(name, columns, ORDER BY) */
#define STORE_TABLES(TABLE)                                                                  \
	TABLE(samples, STORE_SAMPLES, "host, process, comm, class, state, stack, cgroup, t") \
	TABLE(stacks, STORE_STACKS, "hash")                                                  \
	TABLE(states, STORE_STATES, "host, process, comm, cgroup, t")                        \
	TABLE(threads, STORE_THREADS, "host, process, comm, tid, t")                         \
	TABLE(hosts, STORE_HOSTS, "host, boot, facts")                                       \
	TABLE(loads, STORE_LOADS, "host, t")                                                 \
	TABLE(cgroups, STORE_CGROUPS, "host, cgroup, t")                                     \
	TABLE(cgroup_labels, STORE_CGROUP_LABELS, "host, cgroup, labels")                    \
	TABLE(losses, STORE_LOSSES, "host, t, sink, what, why")

enum store_table_id {
#define TABLE_ENUM(name, columns, order) STORE_TABLE_##name,
	STORE_TABLES(TABLE_ENUM)
#undef TABLE_ENUM
		STORE_TABLE_COUNT
};

/* The bit of a metric in measured0 and, from 64 on, in measured1. `id` is an enum metric_id. */
unsigned store_metric_bit(unsigned id);

/* The names of metrics by bit: those that are gone, too. */
extern const char *const store_metric_names[STORE_METRIC_COUNT];

struct store_column {
	const char *name;
	enum store_type type;
};

struct store_table {
	const char *name, *order;
	const struct store_column *columns; /* with those of states and metrics */
	size_t count;
};

/* By enum store_table_id. */
const struct store_table *store_table(enum store_table_id id);

#endif
