/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libkstats: distributions of values, or of times, recorded inside a program by nanoseconds each.
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
 * While it runs, `ctprof kstats show PID:request_times` shows them, and `start`, `stop` and
 * `reset` are done to them from outside, by the same user or root.
 *
 * Each power of two is cut into 2^frac_bits slots of equal width; with 3, a slot is at most 12.5 %
 * as wide as the values in it. A slot has a count and a sum, for each CPU.
 *
 * Any thread may record into any metric at any time, and so may a signal handler; each value is
 * counted exactly once. Recording takes no lock, allocates nothing, and cannot fail. The other
 * functions are for threads, not for signal handlers.
 *
 * After fork(2) both processes count into the same memory, exactly: PID:NAME of either shows what
 * both did. A child that wants its own deletes the metric and makes a new one. After execve(2)
 * nothing is left.
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
 * Make a metric, to be given to kstats_delete(); its values are recorded from now on. `name` is 1
 * to 63 letters, digits, "_" and "-", does not begin with "-" nor "GAP-", is not "_control", and is
 * copied; `frac_bits` is 0 to 5.
 *
 * NULL and errno, with nothing left behind: EINVAL for a name or frac_bits that cannot be,
 * ENAMETOOLONG, EEXIST when this process has a metric of that name, EMFILE or ENFILE (a metric has
 * a descriptor of its own), EFBIG (RLIMIT_FSIZE), ENOMEM, or what memfd_create(2) says. All other
 * functions take NULL and then do nothing, so a program need not care.
 */
KSTATS_API struct kstats *kstats_new(const char *name, unsigned frac_bits);

/* The same for times in nanoseconds, such as spans. What an empty span takes is measured once. */
KSTATS_API struct kstats *kstats_new_time(const char *name, unsigned frac_bits);

/* Count `value`, in whatever unit. Takes NULL. */
KSTATS_API void kstats_record(struct kstats *key, uint64_t value);

/* Forget the metric and its values. No thread may use it any more. Takes NULL. */
KSTATS_API void kstats_delete(struct kstats *key);

/* A piece of work between two moments, by CLOCK_MONOTONIC. It owns nothing: it may be copied,
 * handed to another thread, and dropped. */
struct kstats_span {
	struct kstats *key;
	uint64_t start_ns;
};

/* Begins now, of a metric (which may be NULL). */
KSTATS_API struct kstats_span kstats_span_start(struct kstats *key);

/* Ends now: record how long it took, in nanoseconds, and return that. */
KSTATS_API uint64_t kstats_span_stop(struct kstats_span span);

#ifdef __cplusplus
}
#endif

#endif
