/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * src/process: the processes that run, what they have mapped, and the unwind tables of their files.
 *
 *	process_watch ──> process_table ──> address_space
 *	     │                  ^
 *	perf_events,            │ processes that changed
 *	process_maps        unwinder ──> mapping_cache ──> unwind_table_cache ──> table_builders
 *	                        │             │                    │                   │
 *	                  the map of      mappings in the      tables in the      files, and the
 *	                  processes       unwind memory        unwind memory      cache on disk
 *
 * process_table has the one record of each process: the programs that it ran, what each of them
 * had mapped (address_space, within the limits of image_memory), and what the unwinder keeps about
 * it. process_watch fills it from the one reader of perf events (perf_events) and from /proc
 * (process_maps).
 *
 * unwinder follows the changes of the table. For a process it asks mapping_cache for its mappings
 * as words that walkers read (unwind/pool.h), equal ones once, and publishes them to the programs
 * in the kernel. mapping_cache asks unwind_table_cache for the table of each file, which comes from
 * memory, from disk, or later from table_builders: a pool of threads that open files and make
 * tables (mapped_file).
 *
 * Programs that start later are first recorded by programs in the kernel (mapping_record.h), for
 * which recorded_mappings makes files known whose tables are there. The unwinder builds only what
 * is not recorded, and what has lived for a while.
 *
 * Threads: all of it runs in the thread of the session, or in that of its guard (base/guard.h)
 * while that thread waits. table_builders alone has threads of its own; its queue is the only thing
 * with a lock. Each limit on memory and time is also divided between users (user_shares,
 * base/time_share.h).
 *
 * This file: the table, without its sources.
 *
 * A process begins with the mappings of its parent, gets another image with each exec, and keeps
 * the last one when it has ended. A number that is used again is another process.
 */
#ifndef PROCESS_PROCESS_TABLE_H
#define PROCESS_PROCESS_TABLE_H

#include "process/image_memory.h"
#include "process/perf_record.h"
#include "profile/profile.h"

/* A program that a process ran. Readable for all; written by the table. */
struct process_image {
	uint32_t pid;
	uint64_t begun_ns; /* by its exec or fork; 0: before the watch began */
	const struct name *exe;
	/* `space`: all mappings that it ever had, for names; NULL: none are known. `now`: those
	 * that it has; NULL: the same as `space`. */
	struct address_space *space, *now;
	/* Pages that the process may execute and not write, as the kernel counts them
	 * (is_exec_mapping() in mm/internal.h); 0: unknown, because mappings were reported since
	 * they were read. */
	uint64_t exec_pages;
	bool is_marked;      /* process_table_mark(), also of an ancestor */
	bool has_noted_code; /* process_table_note_code() */
	bool is_over;        /* since `ended_ns`: it ended, or got a successor */
	bool is_stranger;    /* not wanted, with a number that a wanted one had */
	uint64_t ended_ns;
	uint32_t number; /* in this round of process_table_put(); 0: not found yet */
	struct image_payer payer;
};

/* A process number. */
struct process_entry {
	uint32_t pid;
	bool is_changed;
	struct {
		ARRAY(struct process_image *);
	} images;                    /* by `begun_ns`, the latest is last; empty: none is known */
	struct unwinding *unwinding; /* the unwinder's, which keeps the entry; NULL: none */
};

struct process_table;

/* With `only_begun`, processes are ignored that are neither in process_table_begin() nor children
 * of those. `max_memory` is in bytes. */
struct error *process_table_create(bool only_begun, size_t max_memory,
				   struct process_table **ret) MUST_CHECK;
/* Takes NULL. */
void process_table_destroy(struct process_table *table);
DEFINE_CLEANUP(process_table_destroy, struct process_table *)

/* From now on users have shares of the memory. */
void process_table_limit_users(struct process_table *table, share_user_of *user_of);

/* The functions below report no errors: failed allocations, and what would need more than
 * `max_memory` or the user's share of it, are counted as lost. */

/* A process that exists, since that time (0: unknown) unless it is in the table. `exe`: its
 * program, or "". */
void process_table_begin(struct process_table *table, uint32_t pid, uint64_t time_ns,
			 struct text exe);

/* Apply an event. Events should come in the order of time: other orders give wrong answers and do
 * no harm. */
void process_table_apply(struct process_table *table, const struct perf_record *record);

/* Events that could not be applied. */
uint64_t process_table_lost(const struct process_table *table);

/*
 * Replace what a process has mapped now by what /proc shows: each mapping as a record, between
 * process_table_read_begin() and process_table_read_end(). Mappings that are gone are still found
 * for names. False without memory.
 */
bool process_table_read_begin(struct process_table *table);
void process_table_read_mapping(struct process_table *table, const struct perf_record *record);
void process_table_read_end(struct process_table *table, uint32_t pid, uint64_t exec_pages);

/* --- processes as they are now --- */

/* Good until the table changes. NULL: the number is unknown. */
struct process_entry *process_table_find(const struct process_table *table, uint32_t pid);

/* The same, which is added where it is unknown. NULL without memory. */
struct process_entry *process_table_at(struct process_table *table, uint32_t pid);

/* The image of a process that is wanted, which may be over, and what it has mapped (NULL: nothing
 * is known). Good until the table changes. NULL: there is no such process. */
const struct process_image *process_table_now(const struct process_table *table, uint32_t pid);
static inline const struct address_space *process_image_now(const struct process_image *image)
{
	return image->now ? image->now : image->space;
}

/* From now on changes are recorded for process_table_next_changed(), which must be called then. */
void process_table_record_changes(struct process_table *table);

/* The next process that started, ended or mapped something since it was last returned; false: there
 * is none. Reading a process from /proc is no change. */
bool process_table_next_changed(struct process_table *table, uint32_t *ret_pid);

/* Would process_table_next_changed() return one? */
bool process_table_has_changed(const struct process_table *table);

/* Return it in process_table_next_changed(). */
void process_table_set_changed(struct process_table *table, uint32_t pid);

/* Mark a process, the programs that it executes and its descendants. */
void process_table_mark(struct process_table *table, uint32_t pid);

/* Once for each image that is not over: true. */
bool process_table_note_code(struct process_table *table, uint32_t pid);

/* All entries, for iteration. */
size_t process_table_count(const struct process_table *table);
struct process_entry *process_table_entry(struct process_table *table, size_t i);

/* --- images as they were --- */

/*
 * The image that the process had at that time: its number, counted from 1, among those that
 * process_table_put() adds. 0: none is known, as for kernel threads.
 */
uint32_t process_table_find_image(struct process_table *table, uint32_t pid, uint64_t time_ns);

/* Add the images that were found since the last time to the profile, which must have none;
 * numbers start again. On failure the profile may have some of them. */
struct error *process_table_put(struct process_table *table, struct profile *profile) MUST_CHECK;

/* Forget images that ended before that time, except those that are found and not put yet. */
void process_table_forget(struct process_table *table, uint64_t time_ns);

#endif
