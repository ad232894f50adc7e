/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads all metrics of this host repeatedly, and tells what each recorded between two readings.
 *
 *	err = kstats_watch_create(glob, &watch);
 *	err = kstats_watch_read(watch, &changes);       each second
 *	kstats_changes_clear(&changes);
 *	kstats_watch_destroy(watch);
 *
 * Each reading looks for metrics again, so it finds new ones and no longer has removed ones. A
 * reading does not wait for a command that creates or changes a metric: the next one has its
 * values.
 *
 * Metrics of programs (libkstats) are not read. Finding them requires reading the mappings of every
 * process, which can block in the kernel for a long time.
 */
#ifndef KSTATS_WATCH_H
#define KSTATS_WATCH_H

#include "kstats/recorder.h"

/* The most metrics that are read: those of BPF programs first, then those of the kernel module,
 * each in the order of names. */
#define KSTATS_WATCH_MOST 64
/* Readings take at most 1/KSTATS_WATCH_SHARE of the time of a CPU. Slow ones are made less often.
 */
#define KSTATS_WATCH_SHARE 50

struct kstats_changes {
	/* One table for each metric that was read. Its one row has the values and losses that all
	 * rows of the metric recorded since the reading before; a metric that recorded nothing has
	 * no row. */
	struct kstats_tables tables;
	size_t omitted; /* metrics beyond KSTATS_WATCH_MOST */
};
void kstats_changes_clear(struct kstats_changes *changes);

struct kstats_watch;

/* `pattern` (fnmatch(3)) selects metrics by name, and must stay until the watch is destroyed; NULL
 * selects all. */
struct error *kstats_watch_create(const char *pattern, struct kstats_watch **ret) MUST_CHECK;
/* Takes NULL. */
void kstats_watch_destroy(struct kstats_watch *watch);
DEFINE_CLEANUP(kstats_watch_destroy, struct kstats_watch *)

/*
 * Read the values that metrics recorded since the last reading. If a metric is older than the
 * watch, its first reading has no values; else it has all values since the metric was created or
 * reset. Values between the last reading and the removal or reset of a metric are lost. Metrics
 * that cannot be read are left out. The only error is &error_no_memory. Clear `*ret` in any case.
 */
struct error *kstats_watch_read(struct kstats_watch *watch, struct kstats_changes *ret) MUST_CHECK;

#endif
