/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits on the metrics of programs that are listed or saved: for each process, each user, and all
 * users, so that no user takes the memory or the time of others.
 *
 *	struct user_limits limits = { 0 };
 *	share = user_limits_share(&limits, user);
 *	if (user_limits_refuse_metric(&limits, share, ...))
 *		...
 *	user_limits_notes(&limits, &notes);
 *
 * Omitted metrics are counted by user and reason, with a note for each.
 */
#ifndef KSTATS_USER_LIMITS_H
#define KSTATS_USER_LIMITS_H

#include "base/units.h"
#include "base/word_map.h"
#include "kstats/recorder.h"
#include "kstats/shared_memory.h"

/* Metrics: a file holds 16384 (kstats/file.h), those of other recorders among them. */
#define USER_PROCESS_METRICS_MAX 1024
#define USER_METRICS_MAX         8192
#define USER_ALL_METRICS_MAX     12288

/* The largest number of bytes of tables that are read. */
#define USER_BYTES_MAX ((uint64_t)1 << 30)

/* Slots of saved metrics, 16 bytes each, empty ones too: a file holds 2^25. */
#define USER_SLOTS_MAX     ((size_t)1 << 23)
#define USER_ALL_SLOTS_MAX ((size_t)1 << 24)

/* Time of a CPU, which is the same on a busy host. */
#define USER_PROCESS_TIME_NS (1 * NS_PER_S)
#define USER_TIME_NS         (3 * NS_PER_S)

/* How long to wait for the kernel for a process or a metric, and how often: for one user, and for
 * all. Waits for processes of root are counted apart, with the same limit. */
#define USER_PATIENCE_NS   (5 * NS_PER_S)
#define USER_HANGS_MAX     1
#define USER_ALL_HANGS_MAX 8

/* Why something is left out. */
#define USER_OMISSIONS(OMISSION)                                                             \
	OMISSION(PROCESS_METRICS, "metric", "limit of 1024 metrics of a process")            \
	OMISSION(METRICS, "metric", "limit of 8192 metrics of a user")                       \
	OMISSION(ALL_METRICS, "metric", "limit of 12288 metrics of programs")                \
	OMISSION(BYTES, "metric", "limit of 1 GiB of tables of a user")                      \
	OMISSION(SLOTS, "metric", "limit of 128 MiB of slots of a user")                     \
	OMISSION(ALL_SLOTS, "metric", "limit of 256 MiB of slots of programs")               \
	OMISSION(RESETS, "metric", "being reset continuously")                               \
	OMISSION(LEASE, "metric", "its program holds a lease on it")                         \
	OMISSION(CPUS, "metric", "tables for more CPUs than this host may have")             \
	OMISSION(PROCESS_TIME, "process", "searching its mappings takes more than a second") \
	OMISSION(TIME, "process", "limit of 3 s for the processes of a user")                \
	OMISSION(HANGS, "process", "the kernel did not answer for 5 s")                      \
	OMISSION(AFTER_HANG, "process", "reading another process hung")

enum user_omission {
#define OMISSION_ENUM(id, what, why) USER_OMITTED_##id,
	USER_OMISSIONS(OMISSION_ENUM)
#undef OMISSION_ENUM
		USER_OMISSION_COUNT
};

/* The amounts used so far by one user, or by all. */
struct user_share {
	uint32_t user;
	size_t metrics, slots, hangs;
	uint64_t bytes, time_ns;
};

struct user_limits {
	struct {
		ARRAY(struct user_share);
	} shares;
	struct {
		ARRAY(struct user_omitted);
	} omitted;
	struct word_map users, reasons; /* to their indices */
	struct user_share all;
};

/* Something that was left out. */
struct user_omitted {
	uint32_t user, pid; /* of the first one */
	enum user_omission why;
	bool is_of_one; /* all are of `pid` */
	size_t count;
	char name[KSTATS_SHARED_NAME_MAX + 1]; /* of the first metric; "": of processes */
};

/* Added to by others; valid until the next call. NULL: no memory. */
struct user_share *user_limits_share(struct user_limits *limits, uint32_t user);

/* Does the next metric of a user go beyond a limit of its metrics or bytes? */
bool user_limits_refuse_metric(const struct user_limits *limits, const struct user_share *share,
			       size_t metrics_of_process, enum user_omission *ret);
/* The number of slots that may still be saved for the user. */
size_t user_limits_slots(const struct user_limits *limits, const struct user_share *share,
			 enum user_omission *ret_why);
/* Does the next process of a user? */
bool user_limits_refuse_process(const struct user_limits *limits, const struct user_share *share,
				enum user_omission *ret);

/* Count what was omitted: `omitted` has the number, the user and the process. False: no memory. */
bool user_limits_omit(struct user_limits *limits, const struct user_omitted *omitted);

/* A line for each user and reason. */
struct error *user_limits_notes(const struct user_limits *limits,
				struct kstats_notes *notes) MUST_CHECK;

void user_limits_deinit(struct user_limits *limits);

#endif
