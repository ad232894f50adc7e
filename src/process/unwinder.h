/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishes unwind tables of running processes to BPF programs, and updates them while processes
 * start, map libraries, and end.
 *
 *	struct unwinder *unwinder;
 *	err = unwinder_open(&options, &unwinder);
 *	...                                  attach what takes stacks, process_watch_start
 *	err = unwinder_start(unwinder, show_progress, NULL);
 *	while (...)
 *		unwinder_tick(unwinder);         after process_watch_poll
 *	unwinder_close(unwinder);
 *
 * Mappings of processes come from the process table, which gets each executable mapping, or are
 * read again from /proc if a walk found that some are missing. A file is identified by its
 * build-id, else by device, inode and the time of its last change. Builder threads read its table
 * from the cache on disk (unwind/cache.h), or make it; until then its mappings are pending. Tables
 * of files that no process maps any more are kept while there is room, and then freed, oldest
 * first, after a delay, since a walk may be using them.
 */
#ifndef PROCESS_UNWINDER_H
#define PROCESS_UNWINDER_H

#include "base/guard.h"
#include "process/process_watch.h"
#include "unwind/store.h"

struct unwinder;

struct unwinder_options {
	/* Descriptors of maps, not owned: an array of maps for chunks, an array of rules that can
	 * be mapped into memory, a hash from process number to struct unwind_process, and one from
	 * process number to the generation that a walk found wanting (0: none). */
	int chunks, rules, processes, asked;
	/* What a program in the kernel records of new programs (process/mapping_record.h): its
	 * maps, and the variable that it shares. NULL: nothing. */
	int slots, files, requests;
	struct mapping_recording *recording;
	struct process_watch *images; /* not owned */
	struct guard *guard;          /* for looking at processes; not owned. NULL: none */
	struct kept *kept; /* for the files that tables are of; NULL: they are not kept */
	/* These processes, their future children, and processes that a walk requests; none: all
	 * processes. */
	const uint32_t *pids;
	size_t pid_count;
	size_t max_bytes;           /* of tables in memory */
	struct memory_limit *limit; /* for them, as for all; not owned. NULL: none */
	bool no_cache;              /* on disk */
};

struct error *unwinder_open(const struct unwinder_options *options,
			    struct unwinder **ret) MUST_CHECK;

/* `done` of `all` tables are made. Return false to not wait for the rest. */
typedef bool unwinder_progress(void *context, size_t done, size_t all);

/* Prepare the tables of all processes that exist. Returns when they are ready, or after `most_ns`:
 * the rest comes later. `progress` may be NULL. */
struct error *unwinder_start(struct unwinder *unwinder, uint64_t most_ns,
			     unwinder_progress *progress, void *context) MUST_CHECK;

/* Follow what has changed, and publish tables that are ready. It does not wait for tables, and for
 * a process that hangs no longer than the guard does: the next tick does the rest. */
void unwinder_tick(struct unwinder *unwinder);

/* Has a tick anything to do, but for what may wait for a fifth of a second: giving memory back, and
 * parts of tables of which nothing but a bit says that they are needed. Processes that walks ask
 * for are not looked for. */
bool unwinder_has_work(const struct unwinder *unwinder);

/* When work is due that no perf record announces (CLOCK_MONOTONIC); 0: now; UINT64_MAX: there is
 * none. */
uint64_t unwinder_due_ns(const struct unwinder *unwinder);

/* Words of the stack of a process, whose walk by these mappings met a part of a table that is not
 * made: those that may be return addresses request their parts, too. */
void unwinder_want_words(struct unwinder *unwinder, uint32_t pid,
			 const struct unwind_process *walked, const __u64 *words, size_t count);

/* The walk of a process's stack by unwinder_store() met a part of a table that is not made, which a
 * later tick makes, and what the words from `sp` on may need as well. */
void unwinder_note_stack(struct unwinder *unwinder, uint32_t pid, uint64_t sp);

/* Tick until the parts that walks have needed so far are made, or that time (CLOCK_MONOTONIC).
 * False: none were needed, or the time is over. */
bool unwinder_wait_for_parts(struct unwinder *unwinder, uint64_t until_ns);

/* Returns whether any process, or part of a table, was published since the last call. */
bool unwinder_had_changes(struct unwinder *unwinder);

/* The unwind memory, for walks in user space. */
const struct unwind_store *unwinder_store(const struct unwinder *unwinder);

/* The published entry of a process. False: there is none. */
bool unwinder_process(const struct unwinder *unwinder, uint32_t pid, struct unwind_process *ret);

/* When it was last published, or got parts of tables that its walks needed (CLOCK_MONOTONIC). 0:
 * never.
 */
uint64_t unwinder_published_ns(const struct unwinder *unwinder, uint32_t pid);

/* When parts of tables were last made; 0: never. */
uint64_t unwinder_parts_made_ns(const struct unwinder *unwinder);

struct unwinder_use {
	size_t tables, from_cache, made; /* since the start */
	size_t failed;                   /* files that could not be read */
	size_t no_room;                  /* tables and processes that found none */
	size_t too_many;                 /* mappings beyond UNWIND_MAPPINGS_MAX of a process */
	struct unwind_store_use memory;
};
struct unwinder_use unwinder_use(const struct unwinder *unwinder);

/* Names of files for whose tables there was no room, "a, b, ...". NULL: none. */
const char *unwinder_without_room(const struct unwinder *unwinder);

/* Takes NULL, and half-open ones. */
void unwinder_close(struct unwinder *unwinder);
DEFINE_CLEANUP(unwinder_close, struct unwinder *)

#endif
