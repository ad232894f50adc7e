/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libctprof: reads snapshots of ctprof (`.ctprof.zst`), of `ktstr ctprof`, and `.hst.zst`.
 *
 *	#include <ctprof/snapshot.h>
 *
 *	struct ctprof_snapshot *snapshot;
 *	struct ctprof_error error;
 *	if (ctprof_snapshot_open("host.ctprof.zst", &snapshot, &error))
 *		errx(1, "%s", error.message);
 *	size_t run_time = ctprof_metric_find("run_time_ns");
 *	for (size_t i = 0; i < ctprof_snapshot_thread_count(snapshot); i++) {
 *		const struct ctprof_thread *thread = ctprof_snapshot_thread(snapshot, i);
 *		uint64_t ns;
 *		if (ctprof_thread_u64(thread, run_time, &ns))
 *			printf("%s %llu\n", ctprof_thread_comm(thread), (unsigned long long)ns);
 *	}
 *	ctprof_snapshot_close(snapshot);
 *
 * A value that was not measured is not zero: its accessor returns false.
 *
 * A snapshot is read-only once open and may be read by several threads. Everything an accessor
 * returns belongs to the snapshot and lives until ctprof_snapshot_close. Strings end in a NUL; they
 * are the kernel's bytes, and may not be valid UTF-8.
 *
 * Link with `pkg-config --libs ctprof`.
 */
#ifndef CTPROF_SNAPSHOT_H
#define CTPROF_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CTPROF_API __attribute__((visibility("default")))
#else
#define CTPROF_API
#endif

struct ctprof_snapshot;
struct ctprof_thread;

/* What went wrong, as one line that names the file. */
struct ctprof_error {
	int errnum; /* the errno of a failed system call, else 0 */
	char message[1020];
};

/* --- a file --- */

/*
 * Read a snapshot; "-" is standard input. The directory of a recording is its last capture, and
 * "DIR@12:30:05" the one at that time or the nearest before (ctprof-show(1) has all forms). Returns
 * 0, or -1 with *error filled in (which may be NULL) and *ret untouched. Memory is bounded by the
 * number of threads in the file.
 */
CTPROF_API int ctprof_snapshot_open(const char *path, struct ctprof_snapshot **ret,
				    struct ctprof_error *error);

/* Takes NULL. */
CTPROF_API void ctprof_snapshot_close(struct ctprof_snapshot *snapshot);

/* The start time of the capture, in nanoseconds since 1970; 0 if the file does not have it. */
CTPROF_API uint64_t ctprof_snapshot_captured_at_unix_ns(const struct ctprof_snapshot *snapshot);

/* The text of `ctprof capture --note`, or NULL. */
CTPROF_API const char *ctprof_snapshot_note(const struct ctprof_snapshot *snapshot);

/* Is the snapshot complete? False if `ctprof capture --timeout` ended it early. */
CTPROF_API bool ctprof_snapshot_is_whole(const struct ctprof_snapshot *snapshot);

/* Remarks about reading the file, lines of text for people: 0 to count-1. */
CTPROF_API size_t ctprof_snapshot_remark_count(const struct ctprof_snapshot *snapshot);
CTPROF_API const char *ctprof_snapshot_remark(const struct ctprof_snapshot *snapshot, size_t i);

/* --- its threads --- */

CTPROF_API size_t ctprof_snapshot_thread_count(const struct ctprof_snapshot *snapshot);

/* The thread with index `i`, which must be below the count. */
CTPROF_API const struct ctprof_thread *ctprof_snapshot_thread(
	const struct ctprof_snapshot *snapshot, size_t i);

CTPROF_API uint32_t ctprof_thread_tid(const struct ctprof_thread *thread);
CTPROF_API uint32_t ctprof_thread_tgid(const struct ctprof_thread *thread);
CTPROF_API const char *ctprof_thread_comm(const struct ctprof_thread *thread);
CTPROF_API const char *ctprof_thread_pcomm(const struct ctprof_thread *thread);
CTPROF_API const char *ctprof_thread_cgroup(const struct ctprof_thread *thread);

/* --- metrics: numbered from 0, in the order of `ctprof metric-list` --- */

enum ctprof_value_kind {
	CTPROF_VALUE_U64,  /* counters, times, bytes, peaks */
	CTPROF_VALUE_I64,  /* nice, priority, processor */
	CTPROF_VALUE_TEXT, /* policy, state, flags */
	CTPROF_VALUE_CPUS, /* a set of CPUs */
};

/* The number of no metric. */
#define CTPROF_METRIC_NONE ((size_t)-1)

CTPROF_API size_t ctprof_metric_count(void);
CTPROF_API size_t ctprof_metric_find(const char *name);
CTPROF_API const char *ctprof_metric_name(size_t metric);

/* "ns", "B", "ticks" or "". */
CTPROF_API const char *ctprof_metric_unit(size_t metric);
CTPROF_API enum ctprof_value_kind ctprof_metric_kind(size_t metric);

/*
 * The kernel adds a wait to its total when the wait ends. The elapsed time of a wait in progress at
 * the capture is a separate metric, which only BPF measures. For a total of waits, this returns the
 * number of that metric; for other metrics, CTPROF_METRIC_NONE. How long a thread waited for a CPU,
 * up to the capture:
 *
 *	size_t booked = ctprof_metric_find("wait_time_ns");
 *	uint64_t ns, more;
 *	if (ctprof_thread_u64(thread, booked, &ns) &&
 *	    ctprof_thread_u64(thread, ctprof_metric_in_progress(booked), &more))
 *		ns += more;
 *
 * Add it in all snapshots that you compare, or in none. Counts of waits cover only those that
 * ended, so compute mean waits from the total alone.
 */
CTPROF_API size_t ctprof_metric_in_progress(size_t metric);

/* --- values: false when the metric was not measured for this thread, or is of another kind --- */

CTPROF_API bool ctprof_thread_measured(const struct ctprof_thread *thread, size_t metric);
CTPROF_API bool ctprof_thread_u64(const struct ctprof_thread *thread, size_t metric, uint64_t *ret);
CTPROF_API bool ctprof_thread_i64(const struct ctprof_thread *thread, size_t metric, int64_t *ret);

/* The name of a policy; the letter of a state, stored in `buffer`; "true" or "false". */
CTPROF_API bool ctprof_thread_text(const struct ctprof_thread *thread, size_t metric,
				   char buffer[2], const char **ret);

/* CPU numbers, ascending. */
CTPROF_API bool ctprof_thread_cpus(const struct ctprof_thread *thread, size_t metric,
				   const uint32_t **ret, size_t *ret_count);

#ifdef __cplusplus
}
#endif

#endif
