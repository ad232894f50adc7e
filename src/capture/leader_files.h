/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that only processes have, of many processes at once.
 *
 *	struct leader_hangs hangs = { 0 };
 *	struct leader_files *files;
 *	struct error *err = leader_files_start(proc, tgids, count, wanted, &hangs, &files);
 *	...						do something else meanwhile
 *	leader_files_wait(files, deadline, &hangs);
 *	for (size_t i = 0; i < count; i++)
 *		take(tgids[i], leader_file(files, tgids[i], LEADER_SMAPS));
 *	leader_files_close(files);
 *	leader_hangs_deinit(&hangs);
 *
 * Reading them takes the kernel ten times longer than all else of a process: it walks its page
 * tables for smaps_rollup. So several threads do it. A reader that hangs is not waited for: another
 * one takes its place. Reading even a command line hangs where a process holds the lock of its
 * memory map for good.
 *
 * When a process takes longer than three seconds, others of its user are skipped until it is read,
 * and the time of slow readings is charged to the user. Processes of root and of our own user are
 * charged one by one. A caller that reads again and again keeps that in struct leader_hangs. No
 * more than LEADER_HANGING_MAX threads hang at a time. When as many do, nothing is read.
 */
#ifndef CAPTURE_LEADER_FILES_H
#define CAPTURE_LEADER_FILES_H

#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "base/time_share.h"

enum leader_file { LEADER_SMAPS, LEADER_EXE, LEADER_CMDLINE, LEADER_FILE_COUNT };

/* The part of a command line that is kept. */
#define LEADER_CMDLINE_MAX ((size_t)4096)

/* The largest number of threads that read, and of threads that hang. */
#define LEADER_READERS_MAX 4
#define LEADER_HANGING_MAX 32

struct leader_files;

/* Hanging readings, and the time of slow ones. All zero is none. */
struct leader_hangs {
	ARRAY(struct leader_files *);
	struct time_shares shares;
	/* To whom a process is charged (os/process_user.h), which is NULL but in tests. */
	uint64_t (*subject_of)(uint32_t tgid);
};

/* The result of reading a file. */
struct leader_file_bytes {
	int failed; /* an errno: ESRCH when the process is gone or has no memory, ENOENT when it
		       has no such file, ECANCELED when the time was over before, ETIMEDOUT when
		       its reader hangs, or when it was skipped */
	struct text bytes;
};

/*
 * Begin to read the files `wanted` (a bit for each enum leader_file) of each process below `proc`;
 * `tgids` are ascending. `hangs` is that of the calls before.
 */
struct error *leader_files_start(int proc, const uint32_t *tgids, size_t count, unsigned wanted,
				 struct leader_hangs *hangs, struct leader_files **ret) MUST_CHECK;

/* Wait until all is read, or `deadline_ns` (CLOCK_MONOTONIC; 0: as long as there is progress).
 * Files may be accessed only afterwards. `hangs` is that of the start. */
void leader_files_wait(struct leader_files *files, uint64_t deadline_ns,
		       struct leader_hangs *hangs);

/* Is it about this process? `files` may be NULL. */
bool leader_files_has(const struct leader_files *files, uint32_t tgid);

/* ENOENT for a process, or a file, that was not asked for. */
struct leader_file_bytes leader_file(const struct leader_files *files, uint32_t tgid,
				     enum leader_file which);

/* Takes NULL. */
void leader_files_close(struct leader_files *files);
DEFINE_CLEANUP(leader_files_close, struct leader_files *)

/* A reader that hangs keeps what it needs, and frees it when its call returns. */
void leader_hangs_deinit(struct leader_hangs *hangs);

#endif
