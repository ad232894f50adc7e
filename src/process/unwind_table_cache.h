/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables of files, each once, however many processes have the file mapped. A table comes
 * from the unwind memory if it is there, else from table_builders, which read it from the cache on
 * disk or make it. It stays while it is used, and longer while there is room.
 *
 *	if (mapped_file_identify(pid, &mapping, &identity))
 *		table = unwind_table_cache_find(cache, pid, &mapping, &identity);
 *	unwind_table_cache_use(cache, table);
 *	...
 *	if (unwind_table_cache_collect(cache))
 *		build the mappings again that wait for tables
 *	...
 *	unwind_table_cache_release(cache, table);
 */
#ifndef PROCESS_UNWIND_TABLE_CACHE_H
#define PROCESS_UNWIND_TABLE_CACHE_H

#include <sys/queue.h>

#include "process/mapped_file.h"
#include "process/user_shares.h"
#include "unwind/store.h"

struct unwind_table_cache;

enum cached_table_state {
	CACHED_TABLE_PENDING, /* it is being built */
	CACHED_TABLE_READY,   /* it is in the store */
	CACHED_TABLE_NO_CFI,  /* the file describes none of its code */
	CACHED_TABLE_FAILED,  /* the file could not be read, or there was no room */
};

/* Readable for all; written by the cache. */
struct cached_table {
	TAILQ_ENTRY(cached_table) unused;
	struct words identity;
	struct file_inode inode;            /* of the file that it was made from; 0: not known */
	uint64_t known_offset, known_bytes; /* the part of it that was last made known
					     * (process/recorded_mappings.h) */
	enum cached_table_state state;
	uint32_t location; /* in the store, of CACHED_TABLE_READY */
	uint64_t base;     /* address of the file where the table begins */
	struct {
		ARRAY(struct file_segment);
	} segments;
	uint32_t users;
	uint32_t pid;               /* the process whose file was opened */
	uint32_t share, rule_share; /* of its user, who is charged */
	size_t bytes;               /* charged for the location */
	uint32_t tries;
	uint64_t asked_ns;
	const struct name *path; /* of the mapping that it was first asked for with */
	/* The members below are for a table whose parts are made when walks need them. */
	TAILQ_ENTRY(cached_table) outlined;
	int fd;            /* of its file; -1: all of it is made */
	uint32_t user;     /* of its process */
	bool awaits_parts; /* from the builders */
	bool is_untrusted; /* its user is limited */
};

struct unwind_table_cache_options {
	struct unwind_store *store; /* not owned */
	size_t max_bytes;           /* of the store */
	struct kept *kept;          /* for the files (profile/kept.h); NULL: they are not kept */
	bool no_disk;               /* without the cache on disk */
	struct memory_limit *limit; /* that is asked before a file is read; NULL: none */
};

struct error *unwind_table_cache_create(const struct unwind_table_cache_options *options,
					struct unwind_table_cache **ret) MUST_CHECK;

/* From now on each user has a share of the store, and of its rules. */
void unwind_table_cache_limit_users(struct unwind_table_cache *cache, share_user_of *user_of);

/* The table of a file that a process has mapped, which is requested if there is none yet. One that
 * failed is requested again when another process has the file. While the share of the user of the
 * process is used up, none is requested, which is counted. NULL: memory is short, which is counted.
 */
struct cached_table *unwind_table_cache_find(struct unwind_table_cache *cache, uint32_t pid,
					     const struct profile_mapping *mapping,
					     const struct words *identity);

/* Is the table of this file in the store? */
bool unwind_table_cache_is_ready(const struct unwind_table_cache *cache,
				 const struct words *identity);

void unwind_table_cache_use(struct unwind_table_cache *cache, struct cached_table *table);
/* Release a table. No walk may still refer to its location. */
void unwind_table_cache_release(struct unwind_table_cache *cache, struct cached_table *table);

/* Put the tables and parts of tables that are built by now into the store. Returns how many tables
 * there were. */
size_t unwind_table_cache_collect(struct unwind_table_cache *cache);

/* Request the parts of tables that walks have needed since. Returns whether any are being made. */
bool unwind_table_cache_request_parts(struct unwind_table_cache *cache);

/* Wait until there is one to collect, or that time (CLOCK_MONOTONIC). */
void unwind_table_cache_wait(struct unwind_table_cache *cache, uint64_t until_ns);

/* Remove the unused table that was used last longest ago. False: there is none. */
bool unwind_table_cache_make_room(struct unwind_table_cache *cache);

/* Words in the store for the user of a process (process/mapping_cache.h). False: there is no room,
 * or the share of the user is used up. `ret_share` is for giving them back. */
bool unwind_table_cache_take_words(struct unwind_table_cache *cache, uint32_t pid, uint32_t words,
				   uint32_t *ret_location, uint32_t *ret_share);
void unwind_table_cache_give_back_words(struct unwind_table_cache *cache, uint32_t location,
					uint32_t words, uint32_t share);

struct unwind_table_cache_use {
	size_t tables, from_cache, made;
	size_t failed, no_room;
	size_t asked, answered; /* requests to the builders for tables */
	size_t parts;           /* of tables, that were made */
};
/* The files that there was no room for last, without their folders: "a, b, ...". NULL: none. */
const char *unwind_table_cache_without_room(const struct unwind_table_cache *cache);

struct unwind_table_cache_use unwind_table_cache_usage(const struct unwind_table_cache *cache);

/* Takes NULL. What is in the store stays there. */
void unwind_table_cache_destroy(struct unwind_table_cache *cache);
DEFINE_CLEANUP(unwind_table_cache_destroy, struct unwind_table_cache *)

#endif
