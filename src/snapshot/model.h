/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder snapshot/: the model of a capture and its file. schema.h has a row for each field
 * outside the threads; reading and writing walk the same rows. The names of measured bits are in
 * the file, so it stays readable when metrics are added. All memory comes from an arena whose
 * limit grows with the number of threads. A recording (recording.h) is a directory whose file
 * names are times.
 */

/*
 * A snapshot in memory: all threads of a host at one time, its processes, cgroups and pressure, and
 * facts about the capture.
 *
 * The model does not depend on a source: a capture fills it from /proc or BPF, the reader from a
 * file, a test by hand. All memory is in its arena. Names are interned, so equal names are equal
 * pointers within one snapshot.
 */
#ifndef SNAPSHOT_MODEL_H
#define SNAPSHOT_MODEL_H

#include "base/array.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/names.h"
#include "metric/metric.h"

/* A number that may not have been measured. */
struct reading {
	uint64_t value; /* signed ones are kept as their two's complement */
	bool measured;
	bool unlimited; /* measured, and it says "max" or that there is no limit */
};

static inline struct reading reading_of(uint64_t value)
{
	return (struct reading){ .value = value, .measured = true };
}

/* Names and numbers, as memory.stat has them. */
struct count {
	const struct name *key;
	uint64_t value;
};

struct counts {
	struct count *items;
	size_t count, room;
	bool measured;
};

/* Names and texts. */
struct label_pair {
	const struct name *key, *value;
};

struct label_pairs {
	struct label_pair *items;
	size_t count, room;
	bool measured;
};

struct ctprof_thread {
	uint32_t tid, tgid;
	bool is_kernel;                        /* while it is captured: not in the file */
	uint32_t host;                         /* of the snapshot's `hosts`; not in the file */
	const struct name *pcomm;              /* name of the process: of its leader */
	const struct name *comm;               /* its own name */
	const struct name *cgroup;             /* cgroup v2 path; empty when there is none */
	struct reading start_time_clock_ticks; /* since boot, in 1/100 s */
	struct thread_record record;
	struct counts *smaps_rollup_kib; /* leaders only, NULL when not measured */
};

struct process {
	uint32_t tgid, host;              /* host: as that of threads */
	struct reading ppid, uid;         /* uid: the effective one */
	const struct name *exe, *cmdline; /* NULL when not measured (kernel threads have none) */
};

/* Pressure; averages in hundredths of a percent. */
struct psi_half {
	struct reading avg10, avg60, avg300, total_usec;
};

struct psi_resource {
	struct psi_half some, full;
};

struct psi {
	struct psi_resource cpu, memory, io, irq;
};

struct cgroup_cpu {
	struct reading usage_usec, nr_throttled, throttled_usec;
	struct reading max_quota_us, max_period_us, weight, weight_nice;
};

struct cgroup_swap {
	struct reading current, max, peak; /* max: "max" is unlimited */
};

struct cgroup_memory {
	struct reading current, peak;
	struct reading max, high; /* limits: "max" is unlimited */
	struct reading low, min;  /* protection: "max" is UINT64_MAX */
	struct cgroup_swap swap;
	struct counts stat, events;
};

/* io.stat, summed over devices. */
struct cgroup_io {
	struct reading rbytes, wbytes, rios, wios, dbytes, dios;
};

struct cgroup_pids {
	struct reading current, max;
};

struct cgroup_counters {
	const struct name *path;
	struct cgroup_cpu cpu;
	struct cgroup_memory memory;
	struct cgroup_pids pids;
	struct cgroup_io io;
	struct psi psi;
};

struct sched_ext {
	const struct name *state;
	struct reading switch_all, nr_rejected, hotplug_seq, enable_seq;
};

/* The kinds of counters that belong to the host and to none of its threads. */
enum counter_kind {
	COUNTERS_KERNEL,
	COUNTERS_CPU,
	COUNTERS_VMSTAT,
	COUNTERS_BLOCK,
	COUNTERS_NET,
	COUNTER_KIND_COUNT
};

/* By enum counter_kind: "kernel", "cpu", "vmstat", "block", "net". */
extern const char *const counter_kind_names[COUNTER_KIND_COUNT];

/* The counters of a CPU, a device, an interface, or the kernel itself. */
struct counter_set {
	enum counter_kind kind;
	const struct name *name; /* "cpu0", "vda", "eth0"; "" where there is but one */
	struct counts counts;
};

/* Facts that seldom change between two captures of one boot; and how long that boot is. */
struct host_context {
	const struct name *cpu_model, *cpu_vendor;
	struct reading total_memory_kib, hugepages_total, hugepages_free, hugepages_size_kib;
	const struct name *thp_enabled, *thp_defrag;
	struct label_pairs sched_tunables;
	struct reading online_cpus, numa_nodes;
	struct label_pairs cpufreq_governor; /* by CPU number */
	const struct name *kernel_name, *kernel_release, *arch, *kernel_cmdline;
	const struct name *boot_id;
	struct reading boot_time_unix_s;
	struct reading uptime_clock_ticks; /* when captured, in the unit of start times: 1/100 s */
	struct reading clock_ticks_per_s;  /* the unit of "ticks" in counters */
};

/* The three summaries of the format: how often each kind of reading failed. */
struct probe_summary {
	struct reading tgids_walked, jemalloc_detected, probed_ok, failed;
	const struct name *dominant_failure;
	bool privilege_dominant;
};

struct parse_summary {
	struct reading tids_walked, read_failures;
	struct counts read_failures_by_file;
	const struct name *dominant_read_failure;
	bool kernel_config_dominant;
	struct reading negative_dotted_values;
};

struct taskstats_summary {
	struct reading ok_count, eperm_count, esrch_count, other_err_count;
};

/* Facts about a capture by ctprof. */
struct capture_info {
	struct reading duration_ns, cpu_ns;
	struct reading threads_lost;         /* exited while they were read */
	struct reading processes_denied;     /* hidden from us altogether */
	struct counts denied, failed;        /* by source: threads it was denied for, or failed */
	const struct name *delay_accounting; /* "off", "runtime", "boot" or "unknown" */
	bool irq_accounting;
	struct reading taskstats_version, taskstats_overflows;
	bool redacted;
	const struct name *source; /* of the threads: "bpf" or "proc" */
	const struct name
		*source_reason;        /* why not BPF, or why not for all; NULL: nothing to say */
	struct reading clock_error_ns; /* by how much waits in progress may be off */
	bool cut_short;                /* the time that was given was over before all was read */
	/* States of threads (top/state_rows.h): the engine that provided them, when it began to
	 * watch, and when it was read, by CLOCK_MONOTONIC and by the clock of the day. */
	const struct name *states_engine;
	struct reading states_begun_ns, states_at_ns, states_at_unix_ns;
};

enum snapshot_origin {
	ORIGIN_CTPROF,     /* ours: it has measured bits */
	ORIGIN_KTSTR,      /* ktstr ctprof */
	ORIGIN_HOST_STATE, /* its older form, .hst.zst */
};

#define THREADS_PER_CHUNK 64

struct ctprof_snapshot {
	struct arena arena;
	struct names names;
	enum snapshot_origin origin;
	struct reading captured_at_unix_ns;
	const struct name *version; /* of the ctprof that wrote it */
	struct metric_set unknown;  /* metrics that the file, of ours, or the query does not have */
	const struct name *note;    /* what its maker wrote on it */
	struct host_context *host;
	struct {
		ARRAY(struct ctprof_thread *);
		size_t made; /* of those before `made` there is memory, used or not */
	} threads;
	struct {
		ARRAY(struct process);
	} processes;
	struct {
		ARRAY(struct cgroup_counters);
	} cgroups; /* ascending by path once complete */
	struct {
		ARRAY(struct counter_set);
	} counters; /* ascending by kind, then in the kernel's order (CPUs by number) */
	struct label_pairs users; /* names of effective uids, by number in decimal */
	struct probe_summary *probe_summary;
	struct parse_summary *parse_summary;
	struct taskstats_summary *taskstats_summary;
	struct psi psi;
	struct sched_ext *sched_ext;
	struct capture_info *capture;
	/* Of a query (store/store_snapshot.h): the time that totals are of, summed over its hosts,
	 * and that of the host with the longest; 0: they are those since threads began. Not in
	 * files. */
	uint64_t observed_ns, longest_observed_ns;
	bool has_programs;  /* of a query: each of `threads` is all those of a program */
	bool has_sums_only; /* of a query: it read sums, which have no metrics but totals */
	/* In a replay of a query (store/store_replay.h): its hosts, and which of them have rows in
	 * the time that ends with this snapshot; else none. Not in files. */
	struct {
		size_t count, observed; /* observed: of so many there are rows */
		const bool *is_observed;
	} hosts;
	struct lines remarks; /* one line each for the user, about reading this file */
};

/* An empty snapshot with room for a capture or a file. */
struct error *snapshot_create(struct ctprof_snapshot **ret) MUST_CHECK;

/* Lift the limit on its memory, which is there for files: what a kernel says is believed. */
void snapshot_trust(struct ctprof_snapshot *snapshot);

/* Takes NULL. */
void snapshot_destroy(struct ctprof_snapshot *snapshot);
DEFINE_CLEANUP(snapshot_destroy, struct ctprof_snapshot *)

/* How long totals have been counted, in the unit of start times: since the boot of the host, or in
 * the time of a query. */
struct reading snapshot_age_ticks(const struct ctprof_snapshot *snapshot);

/* A new thread at the end, all zero. NULL without memory, or when there are as many already as
 * Linux can have (SNAPSHOT_THREADS_MAX). Threads do not move. */
struct ctprof_thread *snapshot_add_thread(struct ctprof_snapshot *snapshot);
#define SNAPSHOT_THREADS_MAX ((size_t)4 << 20) /* PID_MAX_LIMIT, include/linux/threads.h */

/* Make memory for some more threads before they are added, when there is time for that. False
 * without memory. */
bool snapshot_expect_threads(struct ctprof_snapshot *snapshot);

static inline struct ctprof_thread *snapshot_thread(const struct ctprof_snapshot *snapshot,
						    size_t i)
{
	return snapshot->threads.items[i];
}

/* Keep only the first `count` threads. */
void snapshot_truncate_threads(struct ctprof_snapshot *snapshot, size_t count);

/* The same, which gives the memory of the others back to the kernel. No pointer to a thread may be
 * in use. */
void snapshot_release_threads(struct ctprof_snapshot *snapshot, size_t count);

/* Bring threads into the order of their processes; the leader of each first, then by number. */
struct error *snapshot_sort_threads(struct ctprof_snapshot *snapshot) MUST_CHECK;

/* Intern bytes in the snapshot, up to the first NUL. NULL without memory. */
const struct name *snapshot_name(struct ctprof_snapshot *snapshot, struct text text);

/* Append a pair. False without memory. */
bool counts_add(struct ctprof_snapshot *snapshot, struct counts *counts, struct text key,
		uint64_t value);
bool label_pairs_add(struct ctprof_snapshot *snapshot, struct label_pairs *pairs, struct text key,
		     struct text value);

/* No more will come: give back the room for them, if nothing stands behind it. */
void counts_trim(struct ctprof_snapshot *snapshot, struct counts *counts);

/* The one of that key; NULL when there is none. */
const struct count *counts_find(const struct counts *counts, struct text key);

/* A new set of counters at the end, without any. NULL without memory, or when there are as many
 * already as is sane (SNAPSHOT_COUNTER_SETS_MAX). Sets move when one is added. */
struct counter_set *snapshot_add_counters(struct ctprof_snapshot *snapshot, enum counter_kind kind,
					  struct text name);
#define SNAPSHOT_COUNTER_SETS_MAX ((size_t)16384)

/* An error when a key is there twice. Asked once, when all are there: searching at every step would
 * take the square of the time. */
struct error *counts_check(const struct counts *counts) MUST_CHECK;
struct error *label_pairs_check(const struct label_pairs *pairs) MUST_CHECK;

/* The same for the names of `count` sets of one kind. */
struct error *counter_sets_check(const struct counter_set *sets, size_t count) MUST_CHECK;

/* Bring processes into the order of their numbers and cgroups into that of their paths. */
void snapshot_sort(struct ctprof_snapshot *snapshot);

/* Add a line for the user. */
struct error *snapshot_remark(struct ctprof_snapshot *snapshot, const char *format, ...)
	__attribute__((format(printf, 2, 3))) MUST_CHECK;

/* Were its threads read by BPF? */
static inline bool snapshot_is_by_bpf(const struct ctprof_snapshot *snapshot)
{
	return snapshot->capture && text_equal(name_text(snapshot->capture->source), TEXT("bpf"));
}

#endif
