/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All metrics of this host, read again and again: what each has recorded between two readings.
 *
 *	err = kstats_watch_create(glob, &watch);
 *	err = kstats_watch_read(watch, &changes);       each second
 *	kstats_changes_clear(&changes);
 *	kstats_watch_destroy(watch);
 *
 * Metrics are found again in each reading, so those that are created later are in it, and those
 * that are removed are no longer. No reading waits for a command that creates or changes a metric:
 * such values come with the next one.
 *
 * Metrics of programs (libkstats) are not read: to find them takes a look at the mappings of every
 * process, and the kernel may not answer about one for long.
 */
#ifndef KSTATS_WATCH_H
#define KSTATS_WATCH_H

#include "kstats/recorder.h"

/* Metrics that are read at most: the first ones by name, those of BPF programs before those of the
 * module. */
#define KSTATS_WATCH_MOST 64
/* Reading takes at most one part in so many of the time of a CPU: what takes longer is read less
 * often. */
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
 * Of a metric that was created or emptied after the watch was created, all its values are in the
 * first reading that has it; of an older one, those after that reading. What a metric has recorded
 * between the last reading and its end, or its reset, is lost. Metrics that cannot be read are left
 * out. To be cleared, also after an error, which is only that there is no memory.
 */
struct error *kstats_watch_read(struct kstats_watch *watch, struct kstats_changes *ret) MUST_CHECK;

#endif
