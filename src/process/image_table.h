/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which program had which process when, and what it had mapped: what image_watch.h makes of what it
 * is told, in the order of time.
 *
 * A process begins with what its parent has by then, goes on to another image with each exec, and
 * keeps the last one when it is over. A number that is used again is another process.
 */
#ifndef PROCESS_IMAGE_TABLE_H
#define PROCESS_IMAGE_TABLE_H

#include "process/perf_record.h"
#include "process/user_shares.h"
#include "profile/profile.h"

struct image_table;

/* Processes that nobody began (image_table_begin), and who is no child of those, are passed over
 * if `only_begun`. `max_memory` is in bytes. */
struct error *image_table_create(bool only_begun, size_t max_memory,
				 struct image_table **ret) MUST_CHECK;
/* Takes NULL. */
void image_table_destroy(struct image_table *table);
DEFINE_CLEANUP(image_table_destroy, struct image_table *)

/* From now on users have shares of the memory. */
void image_table_limit_users(struct image_table *table, share_user_of *user_of);

/* The functions below do not report errors; failed allocations, and what would need more than
 * `max_memory` or the user's share of it, are counted as lost. */

/* A process that is there, since that time (0: whenever) unless it is known. `exe`: its program, or
 * "". */
void image_table_begin(struct image_table *table, uint32_t pid, uint64_t time_ns, struct text exe);

/* Something that happened, not before what was told already: other orders give wrong answers and no
 * harm. */
void image_table_take(struct image_table *table, const struct perf_record *record);

/* Records that were not taken. */
uint64_t image_table_lost(const struct image_table *table);

/*
 * What a process has mapped as its /proc shows it, each as a record of a mapping, between
 * image_table_read_begin and image_table_read_end: it takes the place of what was known to be there
 * now. Names are still found for what was there before. False without memory.
 */
bool image_table_read_begin(struct image_table *table);
void image_table_read_mapping(struct image_table *table, const struct perf_record *record);
void image_table_read_end(struct image_table *table, uint32_t pid, uint64_t exec_pages);

/* --- what is there now --- */

struct image_now {
	const struct address_space
		*space; /* NULL: nothing is known; good until the table changes */
	/* That the process may execute and not write, as the kernel counts them (is_exec_mapping()
	 * in mm/internal.h); 0: unknown, for something was told since they were read. */
	uint64_t exec_pages;
	uint64_t begun_ns; /* by its exec or fork; 0: before anybody looked */
	bool is_over;
	bool is_marked; /* or a descendant of one that is */
};

/* The number of a process that began, ended or mapped something since it was told here the last
 * time; false: there is no other. What is read says nothing. */
bool image_table_changed(struct image_table *table, uint32_t *ret_pid);

/* As if it had. */
void image_table_tell(struct image_table *table, uint32_t pid);

/* False: no process of that number is known. */
bool image_table_now(const struct image_table *table, uint32_t pid, struct image_now *ret);

/* What it executes and whom it begins is marked, too. */
void image_table_mark(struct image_table *table, uint32_t pid);

/* --- what was there --- */

/*
 * The image that the process had at that time, counted from 1 in the order in which they are first
 * found; 0 when none is known.
 */
uint32_t image_table_find(struct image_table *table, uint32_t pid, uint64_t time_ns);

/*
 * Put the images that were found since the last time into the profile, which has none, by their
 * numbers; counting starts again.
 */
struct error *image_table_put(struct image_table *table, struct profile *profile) MUST_CHECK;

/* Nobody will ask for what was over before that time; but for what is found and not put yet, that
 * is forgotten. */
void image_table_forget(struct image_table *table, uint64_t time_ns);

/* How many images there are, for tests. */
size_t image_table_count(const struct image_table *table);

#endif
