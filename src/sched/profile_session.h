/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile being taken: loading and running BPF programs that add up where threads spend their
 * time, and reading the result.
 *
 *	struct profile_session *session;
 *	struct error *err = profile_session_open(&options, &session);
 *	...                              drop privileges
 *	if (!err)
 *		err = profile_session_start(session);
 *	while (!err && waiting())
 *		err = profile_session_tick(session);
 *	if (!err)
 *		err = profile_session_stop(session);
 *	if (!err)
 *		err = profile_session_read(session, &profile);
 *	profile_session_close(session);
 *
 * Nothing is sent while it runs: profile_session_tick only makes room. It is due 20 times in a
 * second while there is work for it, and five times where nothing begins or changes.
 * A reading has addresses and no names, and includes the waits in progress.
 *
 * Needs BTF of the kernel, and Linux 6.1 or newer: programs with bpf_loop, and hashes that grow
 * while a CPU switches.
 */
#ifndef SCHED_PROFILE_SESSION_H
#define SCHED_PROFILE_SESSION_H

#include "base/units.h"
#include "probe/points.h"
#include "process/unwinder.h"
#include "profile/profile.h"
#include "profile/reason.h"

/* How user stacks are walked. */
enum profile_unwind {
	PROFILE_UNWIND_AUTO,  /* by the file's unwind tables where they describe a function, else by
			       * its frame pointer */
	PROFILE_UNWIND_FP,    /* by frame pointers alone: no tables are made */
	PROFILE_UNWIND_DWARF, /* by tables alone: what they do not describe ends the walk */
};

struct profile_options {
	/* Events. */
	bool on_cpu, off_cpu;
	unsigned frequency; /* of on-CPU samples, in Hz and for each CPU */
	/* Of all that on_cpu and off_cpu say; NULL: all of it. */
	const struct reason_selection *selection;
	const struct probe_points *probes; /* NULL: none */
	bool wakers, runners, histograms, by_cpu;
	bool quotas;      /* read which cgroups ran out of their quota */
	bool latencies;   /* record histograms of waits for CPUs and storage by cgroup */
	unsigned longest; /* at most PROFILE_LONGEST_MAX */
	/* Threads. Numbers are of our PID namespace. */
	const uint32_t *pids, *tids;
	size_t pid_count, tid_count;
	uint32_t command; /* a child of ctprof that is about to exec: tracked from then on; 0: none
			   */
	uint64_t cgroup;  /* its number; 0: all */
	const char *comm; /* a glob, of the name of a thread or of its process; NULL: all */
	/* Of `pids`, `tids` and `command` no children; else those that are there, but of `tids`,
	 * and those that are started. */
	bool no_children;
	bool only_user, only_kernel, include_self;
	const uint64_t *cpus; /* a bit for each; NULL: all */
	size_t cpu_words;
	/* Sampling. */
	uint64_t min_ns, max_ns;             /* intervals off the CPU; max 0: no limit */
	uint64_t period_ns;                  /* time-weighted sampling; 0: every interval */
	unsigned keep_per_mille;             /* of intervals by chance; 0: all */
	unsigned user_frames, kernel_frames; /* 0: no such stacks */
	enum profile_unwind unwind;
	bool only_times; /* of threads: no stacks, and what is about single waits has no effect */
	size_t stacks;   /* room for so many at the start */
	size_t memory_bytes;   /* that maps may grow to */
	uint64_t memory_limit; /* of all that is resident and in maps, at least
				* PROFILE_LIMIT_LEAST; 0: none */
	/* Bytes of that limit that the caller needs for each thread of a reading. 0: the limit does
	 * not include readings. */
	uint64_t memory_of_thread;
	/* Called while unwind tables are made before the start; if it returns false, start without
	 * the rest. May be NULL. */
	unwinder_progress *progress;
	void *progress_context;
	/* Shares the kernel's symbols, and must stay; NULL: the session reads its own. */
	struct symbol_cache *symbols;
	int statistics;   /* of program_cost_enable(), which the session closes; 0: cost unknown */
	unsigned recheck; /* one in so many recognised stacks is walked as well; 0: none */
};

struct profile_session;

/* Loads the programs, opens perf events and attaches probes. Nothing is counted, no thread is
 * started and no process is read yet. Requires CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN; what
 * follows requires CAP_BPF at most, and what reading other processes takes. */
struct error *profile_session_open(const struct profile_options *options,
				   struct profile_session **ret) MUST_CHECK;

/* Read the processes that there are, make their unwind tables, and count from then on. */
struct error *profile_session_start(struct profile_session *session) MUST_CHECK;

struct error *profile_session_tick(struct profile_session *session) MUST_CHECK;

/* Readable when a tick is due before its time: a program was started, or mapped something, and has
 * no unwind tables yet. -1: none is ever. */
int profile_session_fd(const struct profile_session *session);

/* How long a tick waits after profile_session_fd() asked for it. A program that starts maps several
 * files in a row, and where programs start all the time, ticks take a small share of a CPU. */
uint64_t profile_session_gather_ns(const struct profile_session *session);

/* When the next tick is due (CLOCK_MONOTONIC), if it is `now` and profile_session_fd() does not ask
 * for one sooner: in a twentieth of a second after a tick with work, in up to a fifth after others,
 * or when unwind tables are to be made. */
uint64_t profile_session_next_tick(const struct profile_session *session, uint64_t now);

/* Have all targets ended? Ask regularly, as between ticks: an exec ends the record of a thread
 * before it begins the next one, so only three answers in a row that no target is alive prove the
 * end. False while threads may have been left out for lack of room. */
bool profile_session_targets_ended(struct profile_session *session);

/* Count nothing that is later. */
struct error *profile_session_stop(struct profile_session *session) MUST_CHECK;

/* Read what was counted since the last call, or since the start. */
struct error *profile_session_read(struct profile_session *session,
				   struct profile **ret) MUST_CHECK;

/* The limit of memory, with the part for readings. Without one, its bytes are 0. */
struct memory_limit profile_session_limit(const struct profile_session *session);

/* Takes NULL, and half-open ones. */
void profile_session_close(struct profile_session *session);
DEFINE_CLEANUP(profile_session_close, struct profile_session *)

#endif
