/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libkstats: histograms of values or times, recorded in a program at a few nanoseconds per value.
 *
 *	#include <kstats.h>
 *
 *	struct kstats *sizes = kstats_new("request_sizes", 3);
 *	struct kstats *times = kstats_new_time("request_times", 3);
 *
 *	kstats_record(sizes, bytes);
 *
 *	struct kstats_span span = kstats_span_start(times);
 *	answer(request);
 *	kstats_span_stop(span);
 *
 * While the program runs, `ctprof kstats show PID:request_times` shows the times; the verbs
 * `start`, `stop` and `reset` control a metric from outside. The same user and root may do so.
 *
 * Each power of two is divided into 2^frac_bits slots of equal width; with 3, a slot is at most
 * 12.5 % as wide as the values in it. A slot has a count and a sum for each CPU.
 *
 * Any thread may record into any metric at any time, and so may a signal handler; each value is
 * counted exactly once. Recording takes no lock, allocates nothing, and cannot fail. The other
 * functions are for threads, not for signal handlers.
 *
 * After fork(2) both processes count into the same memory, exactly: PID:NAME of either shows the
 * values of both. For a metric of its own, a child deletes this one and makes a new one. After
 * execve(2) the metric is gone.
 *
 * If the environment has KSTATS_SAVE=DIR when the program exits (by exit(3) or from main), all of
 * its metrics are written to DIR/PROGRAM-PID.kstats.json, which `ctprof kstats show` reads. This
 * also applies to metrics that were deleted; of processes that forked, the one that made a metric
 * writes it.
 *
 * Link with `pkg-config --libs libkstats`.
 */
#ifndef KSTATS_H
#define KSTATS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KSTATS_API __attribute__((visibility("default")))
#else
#define KSTATS_API
#endif

struct kstats;

/*
 * Create a metric, which records at once; kstats_delete() frees it. `name` is 1 to 63 letters,
 * digits, "_" and "-", does not begin with "-" or "GAP-", is not "_control", and is copied;
 * `frac_bits` is 0 to 5.
 *
 * Returns NULL and sets errno on failure: EINVAL for an invalid name or frac_bits, ENAMETOOLONG,
 * EEXIST if this process has a metric of that name, EMFILE or ENFILE (a metric has a descriptor of
 * its own), EFBIG (RLIMIT_FSIZE), ENOMEM, or an error of memfd_create(2). All other functions take
 * NULL and then do nothing, so a program may ignore a failure.
 */
KSTATS_API struct kstats *kstats_new(const char *name, unsigned frac_bits);

/* The same for times in nanoseconds, such as spans. Also measures the overhead of a span, once. */
KSTATS_API struct kstats *kstats_new_time(const char *name, unsigned frac_bits);

/* Count `value`, in any unit. Takes NULL. */
KSTATS_API void kstats_record(struct kstats *key, uint64_t value);

/* Delete the metric and its values. No thread may use it any more. Takes NULL. */
KSTATS_API void kstats_delete(struct kstats *key);

/*
 * What the metric's values are in, and what tells it from others of its name: both are shown by
 * ctprof and in its exports. `unit` is 1 to 15 letters, digits, "_", "%" or "/" ("bytes"), or NULL;
 * that of a metric of times is fixed. `labels` is a list "name=value,name=value" of at most 255
 * bytes of printable ASCII without quotes and backslashes, or NULL. Returns 0, or -1 with errno
 * EINVAL. For the time right after kstats_new(). Takes NULL.
 */
KSTATS_API int kstats_describe(struct kstats *key, const char *unit, const char *labels);

/* Resume and stop recording, as `ctprof kstats start` and `stop` do from outside. No record that
 * begins after kstats_stop() returned is counted, until a start; one that another thread is in the
 * middle of may be. Take NULL. */
KSTATS_API void kstats_start(struct kstats *key);
KSTATS_API void kstats_stop(struct kstats *key);

/* Discard all values: each value is counted or discarded as a whole. Returns 0, or -1 with errno:
 * EAGAIN if another process keeps on resetting it, or an error of open(2) on /proc/self/fd. Takes
 * NULL. */
KSTATS_API int kstats_reset(struct kstats *key);

/*
 * A reading of all values since the last reset, for the program itself: for its own status page, or
 * to export it. Recording goes on meanwhile. To be freed with kstats_snapshot_free(); all functions
 * take NULL, which is an empty one.
 */
struct kstats_snapshot;

/* NULL and errno: ENOMEM, or EAGAIN if the metric is being reset continuously. */
KSTATS_API struct kstats_snapshot *kstats_snapshot_take(struct kstats *key);
KSTATS_API void kstats_snapshot_free(struct kstats_snapshot *snapshot);

/* Leave in `now` what was recorded since `before`, an earlier one of the same metric. Returns 0, or
 * -1 with errno EINVAL if it is none: the metric was reset since, or is another. */
KSTATS_API int kstats_snapshot_subtract(struct kstats_snapshot *now,
					const struct kstats_snapshot *before);

/* The number of values, and their mean (0 without values). */
KSTATS_API uint64_t kstats_snapshot_count(const struct kstats_snapshot *snapshot);
KSTATS_API double kstats_snapshot_mean(const struct kstats_snapshot *snapshot);

/* The smallest value that at least `fraction` (0 to 1) of all values are not above: the true one is
 * from `*ret_low` (may be NULL) to the returned one, which are the bounds of its slot. Both are 0
 * without values. With fewer than 1 / (1 - fraction) values, it is the maximum by another name. */
KSTATS_API uint64_t kstats_snapshot_quantile(const struct kstats_snapshot *snapshot,
					     double fraction, uint64_t *ret_low);

/* The same of a new snapshot: kstats_quantile(times, 0.99). 0 without values or memory. */
KSTATS_API uint64_t kstats_quantile(struct kstats *key, double fraction);

/* A running measurement of a time, by CLOCK_MONOTONIC. It owns nothing: it may be copied, passed to
 * another thread, and dropped. */
struct kstats_span {
	struct kstats *key;
	uint64_t start_ns;
};

/* Start a span of a metric, which may be NULL. */
KSTATS_API struct kstats_span kstats_span_start(struct kstats *key);

/* Record the time since the start, in nanoseconds, and return it. */
KSTATS_API uint64_t kstats_span_stop(struct kstats_span span);

#ifdef __cplusplus
}
#endif

#endif
