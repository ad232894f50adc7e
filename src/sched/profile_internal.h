/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a profile session, which the files of its reading share.
 */
#ifndef SCHED_PROFILE_INTERNAL_H
#define SCHED_PROFILE_INTERNAL_H

#include "bpf/program_cost.h"
#include "elf/kallsyms.h"
#include "os/quotas.h"
#include "probe/attach.h"
#include "process/process_watch.h"
#include "process/unwinder.h"
#include "sched/deferred_stacks.h"
#include "sched/first_stacks.h"
#include "sched/profile_memory.h"
#include "sched/profile_session.h"
#include "sched/sample_events.h"

struct profile_bpf;

/* Cumulative counts by key, as of some moment. */
_Static_assert(sizeof(struct count_key) == 32, "keys of maps have no padding");
struct counted_table {
	struct {
		ARRAY(struct counted_entry {
			struct count_key key;
			struct count_value value;
			bool is_in_progress;
			bool is_in_hash;
			uint32_t next; /* of the same bucket, counted from 1; 0: it is the last */
		});
	} entries;
	/* The first entry of each bucket, counted from 1; 0: it is empty. A map (base/map.h) would
	 * have the keys twice, and be as large as the entries. */
	uint32_t *buckets;
	size_t bucket_count;
	uint32_t reading; /* whose longest intervals are known */
};
void counted_table_deinit(struct counted_table *table);

/* The times of a thread as of some moment. */
struct thread_totals {
	uint64_t ns[CLASS_COUNT], counts[CLASS_COUNT];
	uint64_t voluntary, involuntary;
	enum { RECORD_IN_USE, RECORD_READ, RECORD_LEFT } end; /* reading_ended.c */
};

/* Cumulative values by up to three numbers, as of some moment. */
struct amounts {
	struct word_map places;
	struct {
		ARRAY(struct slot_value);
	} values;
};

/* A cgroup with histograms of its own (reading_latencies.c). */
struct latency_place {
	uint64_t cgroup; /* cgroup ID; 0: the place is free */
	char *path;
	unsigned unseen;                          /* consecutive readings without a thread in it */
	struct latency_slots last[LATENCY_KINDS]; /* counts at the last reading */
};

struct profile_session {
	struct profile_options options;
	struct profile_bpf *program;
	struct memory_limit limit;
	struct memory_limit table_limit; /* the same, of unwind tables */
	uint64_t kernel_bytes;           /* of it, for what the kernel has at most */
	uint64_t kernel_bytes_now;       /* the same at the last reading */
	struct profile_chunks chunks;
	struct guard *guard; /* for looking at processes; NULL: without stacks of user space */
	struct kept *kept;   /* of processes, until there are names */
	struct process_watch *images;
	bool has_changes;          /* unwind tables have changed since `mended` */
	uint64_t unwinder_ticked;  /* CLOCK_MONOTONIC */
	uint32_t asked_count;      /* of the state, then */
	uint64_t mended;           /* the last time that stacks without tables were retried */
	struct unwinder *unwinder; /* NULL: by frame pointers alone */
	struct first_stacks first_stacks;
	struct deferred_stacks deferred_stacks;
	struct unwinder_use reported;   /* by earlier readings */
	const struct kallsyms *symbols; /* NULL: not read yet, or addresses are hidden */
	struct kallsyms *own_symbols;   /* the same, if they are not shared */
	uint64_t symbols_read;          /* when; 0: not yet */
	bool has_looked_for_fifo, has_looked_for_swap; /* for that code */
	uint64_t tick_ns;                              /* the duration of the last tick */
	uint64_t pause_ns;                             /* after it, to the next */
	unsigned targets_missed; /* checks in a row that found no target alive */
	struct sample_events samples;
	struct program_cost cost;
	struct probe_links *probes;
	int cgroups; /* the directory where cgroups are mounted, or -1 */
	uint64_t started_unix_ns, started, stopped; /* the latter by CLOCK_MONOTONIC; 0: not yet */
	/* counts at the last reading */
	uint64_t read_at;
	struct quotas quotas; /* at the last reading */
	struct counted_table counted;
	struct amounts slots, runners;
	struct latency_slots *latencies;      /* mapped from the BPF map; NULL: not wanted */
	struct latency_place *latency_places; /* LATENCY_PLACES of them */
	struct {
		bool is_new;           /* since the last reading: the one before has counts left */
		struct word_map moved; /* numbers of stacks in the one before, to those in this */
		size_t first_counts;   /* entries when the one before was forgotten */
	} epoch;
	struct {
		ARRAY(struct thread_totals);
	} totals; /* by record number */
	struct profile_counts counts;
	uint32_t threads_lost;
	uint64_t refused; /* by both limits */
	uint64_t own_cpu_ns, runs, run_ns;
};

/* Read the functions of the kernel, unless that was done. */
void profile_session_find_symbols(struct profile_session *session);

/* Read the quotas of the host at the start, if they are wanted (reading_quotas.c). */
void profile_begin_quotas(struct profile_session *session);

/* Map the histograms of latencies, if they are wanted (reading_latencies.c). */
struct error *profile_open_latencies(struct profile_session *session) MUST_CHECK;
void profile_close_latencies(struct profile_session *session);

#endif
