/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables of files, each once, whoever has the file mapped: asked for, put into the store
 * when they are made, kept while somebody uses them, and longer while there is room.
 *
 *	if (mapped_file_identify(pid, &mapping, &identity))
 *		table = table_shelf_find(shelf, pid, &mapping, &identity);
 *	table_shelf_use(shelf, table);
 *	...
 *	if (table_shelf_put_made(shelf))
 *		look at those again who wait for tables
 *	...
 *	table_shelf_release(shelf, table);
 */
#ifndef PROCESS_TABLE_SHELF_H
#define PROCESS_TABLE_SHELF_H

#include <sys/queue.h>

#include "process/table_makers.h"
#include "process/user_shares.h"
#include "unwind/store.h"

struct table_shelf;

enum shelf_state {
	SHELF_LATER,   /* it is being made */
	SHELF_TABLE,   /* it has a place */
	SHELF_SILENT,  /* its file says nothing about its code */
	SHELF_NOTHING, /* nothing is known of it */
};

/* Readable for all; written by the shelf. */
struct shelf_table {
	LIST_ENTRY(shelf_table) same; /* with the same hash */
	TAILQ_ENTRY(shelf_table) unused;
	struct words identity;
	enum shelf_state state;
	uint32_t place; /* of SHELF_TABLE, in the store */
	uint64_t base;  /* where in the file the table begins */
	struct {
		ARRAY(struct file_segment);
	} segments;
	uint32_t number, users;
	bool is_asked;              /* the makers have it */
	uint32_t pid;               /* who was asked for the file */
	uint32_t share, rule_share; /* of its user, who is charged */
	size_t bytes;               /* charged for the place */
	uint32_t tries;
	uint64_t asked_ns;
};

/* The store and the makers are not owned. `max_bytes`: of the store. */
struct error *table_shelf_create(struct unwind_store *store, struct table_makers *makers,
				 size_t max_bytes, struct table_shelf **ret) MUST_CHECK;

/* From now on each user has a share of the store, and of its rules. */
void table_shelf_limit_users(struct table_shelf *shelf, share_user_of *user_of);

/* The table of a file that a process has mapped, which is asked for if there is none yet. One that
 * failed is asked for again when another process has the file; nothing is asked for while the share
 * of the user of the process is used up, which is counted. NULL: memory is short, which is counted.
 */
struct shelf_table *table_shelf_find(struct table_shelf *shelf, uint32_t pid,
				     const struct profile_mapping *mapping,
				     const struct words *identity);

void table_shelf_use(struct table_shelf *shelf, struct shelf_table *table);
/* Not needed any more; nobody may know its place by now. */
void table_shelf_release(struct table_shelf *shelf, struct shelf_table *table);

/* Put what is made by now into the store. Returns how many there were. */
size_t table_shelf_put_made(struct table_shelf *shelf);

/* Give back the table that was used last by nobody, longest ago. False: there is none. */
bool table_shelf_make_room(struct table_shelf *shelf);

/* Words in the store for the user of a process (space_shelf.h). False: there is no room, or the
 * share of the user is used up. `ret_share` is for giving them back. */
bool table_shelf_take_words(struct table_shelf *shelf, uint32_t pid, uint32_t words,
			    uint32_t *ret_place, uint32_t *ret_share);
void table_shelf_give_back_words(struct table_shelf *shelf, uint32_t place, uint32_t words,
				 uint32_t share);

struct table_shelf_use {
	size_t tables, from_cache, made;
	size_t failed, no_room;
	size_t asked, answered; /* of the makers */
};
struct table_shelf_use table_shelf_usage(const struct table_shelf *shelf);

/* Takes NULL. What is in the store stays there. */
void table_shelf_destroy(struct table_shelf *shelf);
DEFINE_CLEANUP(table_shelf_destroy, struct table_shelf *)

#endif
