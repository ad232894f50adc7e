/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording: a directory with a snapshot file for each capture, named by its time.
 *
 *	20261120T123005.250Z.ctprof.zst
 *
 * Names are in UTC and sort by time. Each file appears whole or not at all, also when the host
 * crashes (where the file system has nameless files), and there is nothing beside the files that
 * could disagree with them. So a killed recorder leaves a recording, and so do users who copy or
 * delete files by hand. Other names in the directory are never listed and never removed.
 *
 *	struct recording recording;
 *	struct error *err = recording_open(path, &recording);
 *	if (!err)
 *		err = recording_add(&recording, at_ms, packed);
 *	if (!err)
 *		err = recording_sync(&recording);
 *	if (!err)
 *		err = recording_prune(&recording, &keep, at_ms, &removed);
 *	recording_close(&recording);
 */
#ifndef SNAPSHOT_RECORDING_H
#define SNAPSHOT_RECORDING_H

#include "base/error.h"
#include "base/text.h"
#include "snapshot/captures.h"

/* --- names --- */

/* With the zero behind it. */
#define RECORDING_NAME_SIZE sizeof("20261120T123005.250Z.ctprof.zst")

/* The longest end of a name, with the zero behind it. */
#define RECORDING_SUFFIX_SIZE 32

/* Times from 1970 to 9999 have names; later ones get that of the end. */
void recording_name(char name[RECORDING_NAME_SIZE], uint64_t at_ms);

/* False when it is no such name. */
bool recording_parse_name(struct text name, uint64_t *ret_at_ms);

/* --- a directory --- */

struct ctprof_snapshot;

/* Where captures come from that are not files: of a query (store/store_replay.h). All zero: of
 * files. */
struct recording_source {
	struct error *(*load)(void *context, const struct captures *captures, size_t capture,
			      struct ctprof_snapshot **ret);
	void (*close)(void *context);
	void *context;
};

/* The hosts of a query, in the order of the numbers that threads have; of files there are none. The
 * source keeps the names. */
struct recording_hosts {
	const struct name *const *names;
	size_t count;
};

struct recording {
	char *path; /* as the user gave it, for messages; the directory may be moved */
	int dir;
	const char *suffix;      /* of its files, behind their times; not owned */
	unsigned spared_percent; /* of the disk, which stay free of what is added; 0: none */
	struct recording_source source;
	struct recording_hosts hosts;
	struct captures captures; /* what it held when it was opened, by time; and what was added */
};

/* Open one that is there, and list it. */
struct error *recording_open(const char *path, struct recording *ret) MUST_CHECK;

struct error *recording_load(const struct recording *recording, size_t capture,
			     struct ctprof_snapshot **ret) MUST_CHECK;

/* Captures are named by the clock of the day. Where that was set while they were made, their names
 * are in another order than they are, so all of them are read once for the time since boot. */
struct error *recording_put_in_order(struct recording *recording) MUST_CHECK;

/* Open one to add to it; it is made when it is not there (of its owner alone, as snapshots are). */
struct error *recording_create(const char *path, struct recording *ret) MUST_CHECK;

/* The same for files that are no snapshots, with another suffix (".pb.gz"), which must live as
 * long. Functions that read snapshots cannot be used on it. */
struct error *recording_create_of(const char *path, const char *suffix,
				  struct recording *ret) MUST_CHECK;

/*
 * Write a packed snapshot under the name of its time, or of the next millisecond that is free. When
 * the disk is full, or has no more than is to stay free, errnum is ENOSPC or EDQUOT, and there is
 * nothing under the name.
 */
struct error *recording_add(struct recording *recording, uint64_t at_ms,
			    struct text packed) MUST_CHECK;

/* The same within bounds: where `keep` bounds the size, the oldest files are removed when the disk
 * is full. Their number is added to *ret_removed. */
struct error *recording_add_within(struct recording *recording, const struct keep *keep,
				   uint64_t at_ms, struct text packed,
				   size_t *ret_removed) MUST_CHECK;

/* Wait until the disk has the names of what was added. */
struct error *recording_sync(const struct recording *recording) MUST_CHECK;

/* Remove the `count` oldest files. Files that another process removed are not counted. On failure
 * some are removed. */
struct error *recording_remove_oldest(struct recording *recording, size_t count,
				      size_t *ret_removed) MUST_CHECK;

/* Remove what is beyond `keep`. */
struct error *recording_prune(struct recording *recording, const struct keep *keep, uint64_t now_ms,
			      size_t *ret_removed) MUST_CHECK;

void recording_close(struct recording *recording);

/* --- what users write --- */

/*
 * The file that SNAPSHOT means: a file is itself, and so is "-"; DIR is the last capture of that
 * recording, DIR@T the one at the timestamp T (snapshot/timestamp.h) or the nearest before. What
 * exists with '@' in its name is that. `ret` is the caller's to free.
 */
struct error *recording_find(const char *snapshot, char **ret) MUST_CHECK;

/* Cut such a text in two: the directory, the caller's to free, and what stands behind the '@', NULL
 * when there is none. NULL: it means no recording, or there is no memory. */
char *recording_split(const char *snapshot, const char **ret_timestamp);

/* The capture at the timestamp that is written, or the nearest before; NULL: the last. */
struct error *recording_pick(const struct recording *recording, const char *timestamp,
			     size_t *ret) MUST_CHECK;

/* The span of DIR or DIR@T, as two such texts, the caller's to free: from its first
 * capture, or from T, to its last. NULL in *ret_from: it means no recording. */
struct error *recording_span(const char *snapshot, char **ret_from, char **ret_to) MUST_CHECK;

#endif
