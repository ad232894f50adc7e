/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options that say what is profiled, the same for profile, offcpu and capture --profile.
 */
#ifndef CMD_PROFILE_OPTIONS_H
#define CMD_PROFILE_OPTIONS_H

#include "cli/options.h"
#include "cli/target.h"
#include "sched/profile_session.h"
#include "security/privileges.h"

enum profile_mode { PROFILE_ON = 1, PROFILE_OFF = 2, PROFILE_BOTH = 3 };

/* Shorter waits cost more than they tell. */
#define PROFILE_MIN_NS 1000

struct profile_arguments {
	unsigned mode; /* enum profile_mode; 0: what the command says */
	struct target target;
	struct thread_numbers tids;
	const char *comm;
	struct {
		ARRAY(uint64_t);
	} cpus;
	struct {
		ARRAY(const char *);
	} events;
	bool no_children;
	bool user_threads, kernel_threads, user_stacks, kernel_stacks, no_stacks, include_self;
	struct reason_selection states; /* none: all that the mode says */
	struct {
		ARRAY(const char *);
	} state_words; /* the words of --state, as given */
	enum profile_unwind unwind;
	size_t frequency, depth, stacks, longest, keep_per_mille, recheck;
	uint64_t duration_ns, interval_ns, memory_bytes, memory_limit;
	uint64_t min_ns; /* PROFILE_MIN_NS: not given */
	uint64_t max_ns, period_ns;
	bool wakers, preemptors, histograms, list_probes, forces_returns;
	const char *program;         /* that will be run; NULL: none */
	uint64_t cgroup;             /* of the target, once found; 0: all */
	struct probe_points *points; /* of `events`, once found; NULL: none */
};

/* clang-format off */
#define PROFILE_AT(arguments, member) offsetof(struct arguments, profile.member)
/* All options of `profile`. Other commands that take a profile have a subset of them. */
#define PROFILE_OPTIONS(arguments) \
	PROFILE_SELECT_OPTIONS(arguments), PROFILE_TIME_OPTIONS(arguments), \
	PROFILE_FREQUENCY_OPTION(arguments), PROFILE_PROBE_OPTIONS(arguments), \
	PROFILE_WAIT_OPTIONS(arguments), PROFILE_REPORT_OPTIONS(arguments)
#define PROFILE_SELECT_OPTIONS(arguments) \
	{ "mode", 0, "MODE", parse_profile_mode, PROFILE_AT(arguments, mode),                      \
	  "The thread states to profile: on (running), off (waiting) or both.", profile_mode_name, false }, \
	{ "pid", 'p', "PID[,PID...]", parse_pids_by_comm, PROFILE_AT(arguments, target),                   \
	  "Profile only these processes, with all their threads and children, also those "         \
	  "that start later. May be given more than once.", NULL, OPTION_COMMON },                         \
	{ "no-children", 0, NULL, parse_flag, PROFILE_AT(arguments, no_children),                  \
	  "Leave out the children of -p, -t or the command.", NULL, false },                       \
	{ "tid", 't', "TID[,TID...]", parse_tids, PROFILE_AT(arguments, tids),                     \
	  "Profile only these threads, and threads that they create. May be given more "           \
	  "than once.", NULL,                                                                      \
	  false },                                                                                 \
	{ "cgroup", 0, "PATH", parse_cgroup, PROFILE_AT(arguments, target),                        \
	  "Select only threads in this cgroup (version 2) and its descendants.", NULL, OPTION_COMMON },    \
	{ "comm", 0, "GLOB", parse_comm, PROFILE_AT(arguments, comm),                              \
	  "Profile only processes of this name, with all their threads, and threads of this name: " \
	  "a glob (* and ?).", NULL, OPTION_COMMON },                                              \
	{ "user-threads-only", 'u', NULL, parse_flag, PROFILE_AT(arguments, user_threads),         \
	  "Exclude kernel threads.", NULL, false },                                                \
	{ "kernel-threads-only", 'k', NULL, parse_flag, PROFILE_AT(arguments, kernel_threads),     \
	  "Profile only kernel threads.", NULL, false },                                           \
	{ "cpu", 0, "LIST", parse_cpu_list, PROFILE_AT(arguments, cpus),                           \
	  "Select samples taken on these CPUs, and waits that begin there (0-3,5).", NULL, false }, \
	{ "include-self", 0, NULL, parse_flag, PROFILE_AT(arguments, include_self),                \
	  "Include ctprof's own threads.", NULL, false }
#define PROFILE_TIME_OPTIONS(arguments) \
	{ "duration", 'd', "TIME", parse_profile_time, PROFILE_AT(arguments, duration_ns),         \
	  "Profile for TIME (10s, 500ms; a bare number is seconds). By default, "                  \
	  "profile until the command or all targets of -p and -t have ended, the --cgroup was "    \
	  "removed, or until "                                                                     \
	  "Ctrl-C. If the command takes longer than TIME, ctprof waits for its end.", NULL, OPTION_COMMON }, \
	{ "interval", 'i', "TIME", parse_profile_time, PROFILE_AT(arguments, interval_ns),         \
	  "Show each interval of length TIME separately; output files are numbered.", NULL, false }
#define PROFILE_FREQUENCY_OPTION(arguments) \
	{ "frequency", 'F', "HZ", parse_frequency, PROFILE_AT(arguments, frequency),               \
	  "Samples per second and CPU (default 99).", NULL, false }
#define PROFILE_PROBE_OPTIONS(arguments) \
	{ "event", 'e', "PROBE", parse_event, PROFILE_AT(arguments, events),                       \
	  "Take a stack at each hit of a probe, instead of sampling time: "                        \
	  "kprobe:FUNCTION, kretprobe:, uprobe:[FILE:]FUNCTION, uretprobe:, uret:, "               \
	  "tracepoint:CATEGORY:NAME, usdt:FILE:NAME. Names may be globs or /regular "              \
	  "expressions/. May be given more than once.",                                            \
	  NULL, false },                                                                           \
	{ "force-uretprobe", 0, NULL, parse_flag, PROFILE_AT(arguments, forces_returns),           \
	  "Allow uretprobe in Go programs. They crash when the runtime moves a stack.",            \
	  NULL, false },                                                                           \
	{ "list-probes", 0, NULL, parse_flag, PROFILE_AT(arguments, list_probes),                  \
	  "List the probes that -e matches; without -e, all probes of the kernel.", NULL, false }
#define PROFILE_WAIT_OPTIONS(arguments) \
	{ "state", 0, "STATE[,STATE...]", parse_states, PROFILE_AT(arguments, states),             \
	  "Select waits by reason: lock, storage, network, pipe, child, timer, poll, "              \
	  "cond, accept, cpu-wait and others. Also names of the kernel's states (io-wait), "       \
	  "letters as in ps(1) (D), or a mask of the kernel's bits (2).", state_name, OPTION_COMMON }, \
	{ "min-block-time", 'm', "TIME", parse_block_time, PROFILE_AT(arguments, min_ns),          \
	  "Select only waits of at least TIME, in microseconds if it has no unit "                 \
	  "(default 1).", NULL,                                                                    \
	  false },                                                                                 \
	{ "max-block-time", 'M', "TIME", parse_block_time, PROFILE_AT(arguments, max_ns),          \
	  "Select only waits of at most TIME.", NULL, false },                                     \
	{ "off-cpu-period", 0, "TIME", parse_block_time, PROFILE_AT(arguments, period_ns),         \
	  "Sample once per TIME of accumulated wait: cheaper, and long waits are "                 \
	  "always found.", NULL, false },                                                          \
	{ "off-cpu-threshold", 0, "N", parse_threshold, PROFILE_AT(arguments, keep_per_mille),     \
	  "Sample N of 1000 waits at random, each counted 1000/N times.", NULL, false },           \
	{ "user-stacks-only", 'U', NULL, parse_flag, PROFILE_AT(arguments, user_stacks),           \
	  "Take no kernel stacks.", NULL, false },                                                 \
	{ "kernel-stacks-only", 'K', NULL, parse_flag, PROFILE_AT(arguments, kernel_stacks),       \
	  "Take no user stacks.", NULL, false },                                                   \
	{ "no-stacks", 0, NULL, parse_flag, PROFILE_AT(arguments, no_stacks),                      \
	  "Measure the times of threads only, without stacks, at a fraction of the cost.",         \
	  NULL, false },                                                                           \
	{ "unwind", 0, "HOW", parse_unwind, PROFILE_AT(arguments, unwind),                         \
	  "How to walk user stacks: auto (the default) uses unwind tables, and frame "             \
	  "pointers in code without them; fp uses frame pointers only; dwarf uses "                \
	  "unwind tables only.", unwind_name, false },                                             \
	{ "recheck", 0, "N", parse_positive, PROFILE_AT(arguments, recheck),                       \
	  "Verify one in N stacks that were recognised by also walking it (default "               \
	  "256); 1 verifies each.", NULL, false },                                                 \
	{ "stack-depth", 0, "N", parse_depth, PROFILE_AT(arguments, depth),                        \
	  "Take at most N kernel frames and N user frames (default 127 and 1024).",                \
	  NULL, false },                                                                           \
	{ "stack-storage-size", 0, "N", parse_positive, PROFILE_AT(arguments, stacks),             \
	  "Initial room for different stacks (default 16384); it grows as needed.", NULL,          \
	  false },                                                                                 \
	{ "max-map-memory", 0, "SIZE", parse_memory, PROFILE_AT(arguments, memory_bytes),          \
	  "Limit the kernel memory for records of threads, stacks and counts (default "            \
	  "256MiB). Events beyond it count as lost.", NULL, false },                               \
	{ "memory", 0, "SIZE", parse_memory_limit, PROFILE_AT(arguments, memory_limit),            \
	  "Limit all of the memory while profiling, resident and in BPF maps (at least "           \
	  "64MiB). What does not fit is left out, and the report says what that was.", NULL,       \
	  false },                                                                                 \
	{ "wakers", 0, NULL, parse_flag, PROFILE_AT(arguments, wakers),                            \
	  "Add wakers to stacks: the waker and its stack, on top of the stack of a wait.", NULL, OPTION_COMMON }
/* Options for parts of a report that the readings of `serve` do not contain. */
#define PROFILE_REPORT_OPTIONS(arguments) \
	{ "preempted-by", 0, NULL, parse_flag, PROFILE_AT(arguments, preemptors),                  \
	  "Show which threads ran instead: while others waited for a CPU.", NULL, OPTION_COMMON },  \
	{ "longest", 0, "N", parse_longest, PROFILE_AT(arguments, longest),                        \
	  "Also show the N longest single waits (at most 64).", NULL, false },                     \
	{ "hist", 0, NULL, parse_flag, PROFILE_AT(arguments, histograms),                          \
	  "Also show the distribution of wait times, with percentiles.", NULL, false }
/* clang-format on */

struct error *parse_profile_mode(const char *argument, void *at);
struct error *parse_comm(const char *argument, void *at);
struct error *parse_cpu_list(const char *argument, void *at);
struct error *parse_profile_time(const char *argument, void *at);
struct error *parse_frequency(const char *argument, void *at);
struct error *parse_event(const char *argument, void *at);
struct error *parse_states(const char *argument, void *at);
struct error *parse_block_time(const char *argument, void *at);
struct error *parse_threshold(const char *argument, void *at);
struct error *parse_unwind(const char *argument, void *at);
struct error *parse_depth(const char *argument, void *at);
struct error *parse_positive(const char *argument, void *at);
struct error *parse_memory(const char *argument, void *at);
struct error *parse_memory_limit(const char *argument, void *at);
struct error *parse_longest(const char *argument, void *at);

const char *profile_mode_name(size_t number);
const char *state_name(size_t number);
const char *unwind_name(size_t number);

/* Reject options that exclude each other: wrong usage. Warn of options without effect. */
struct error *profile_arguments_settle(struct profile_arguments *arguments) MUST_CHECK;

/* The targets, the cgroup and the probes that are meant: it is a failure when they are not there.
 */
struct error *profile_arguments_find(struct profile_arguments *arguments) MUST_CHECK;

/* Do other options than numbers select threads, so that a process or thread of -p and -t may be
 * there but have none in the profile? */
bool profile_arguments_have_filters(const struct profile_arguments *arguments);

/* Are there targets, so that a profile ends when none of them is left? */
bool profile_arguments_have_targets(const struct profile_arguments *arguments);

/* Asked when the profile has no living thread: may there be some later? `arguments` is a struct
 * profile_arguments. A cgroup may be empty, and get processes until it is removed. */
bool profile_targets_may_return(void *arguments);

/* Print the probes that are meant, for --list-probes. */
struct error *profile_arguments_list(const struct profile_arguments *arguments) MUST_CHECK;

/* The options of a session, after all targets and events were found. They point into the arguments.
 */
struct profile_options profile_arguments_apply(const struct profile_arguments *arguments);

/* Have the allocator return freed memory to the kernel. The start of a profile needs several times
 * the memory of the rest, and a profile may run for days. By default, glibc raises its thresholds
 * (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD) with each large block that is freed, and each thread would
 * keep as much as its largest file needed. Call it before threads are created. */
void profile_keep_heap_small(void);

void profile_arguments_deinit(struct profile_arguments *arguments);

#endif
