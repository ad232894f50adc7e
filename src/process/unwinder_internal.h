/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal interface of the unwinder: unwinder.c follows processes, unwinder_reading.c reads them
 * again from /proc, unwinder_parts.c finds the parts of large tables that walks need.
 */
#ifndef PROCESS_UNWINDER_INTERNAL_H
#define PROCESS_UNWINDER_INTERNAL_H

#include <sys/queue.h>

#include "base/clock.h"
#include "base/time_share.h"
#include "bpf/memory_chunks.h"
#include "process/mapping_cache.h"
#include "process/published.h"
#include "process/unwinder.h"

/* At most this many processes are read from /proc in a tick. */
#define READS_A_TICK  64
#define READ_AGAIN_NS (NS_PER_S / 10)

/* The unwinder's part of a process (struct process_entry). */
struct unwinding {
	TAILQ_ENTRY(unwinding) unread, waiting, late, asked;
	uint32_t pid;
	bool is_unread;                   /* what it has mapped is known from events alone */
	bool is_waiting;                  /* for tables */
	bool is_late;                     /* it changed too soon after it was built */
	bool is_asked;                    /* a walk found that what is known is wrong */
	struct cached_mappings *mappings; /* NULL: none are known */
	uint64_t exec_pages;
	uint64_t begun_ns, changed_ns, built_ns, read_ns;
	uint64_t published_ns;     /* what it has now; 0: nothing was */
	bool needs_parts;          /* a walk found that parts of its tables are not made */
	uint64_t cost_ns;          /* of the last reading */
	uint64_t asked_generation; /* 0: nothing was known */
	uint32_t in_vain;          /* consecutive readings that found no change */
};

TAILQ_HEAD(unwindings, unwinding);

/* A stack that a walk could not follow further for want of a part of a table. */
struct short_stack {
	uint64_t sp;
	uint32_t pid;
};

struct unwinder {
	struct unwinder_options options; /* without `pids` */
	struct {
		ARRAY(uint32_t);
	} pids;
	struct process_table *processes; /* of the watch */
	struct memory_chunks chunks;
	struct unwind_rule *rules; /* mapped */
	struct unwind_store *store;
	struct unwind_table_cache *tables;
	struct mapping_cache *mappings;
	struct published published;
	struct recorded_mappings *recorded; /* NULL: nothing is recorded */
	struct unwindings unread;           /* the one that has been quiet longest first */
	struct unwindings waiting, late, asked;
	size_t wanted_read;     /* of `pids`, at the start */
	uint64_t started_by_ns; /* the start follows changes until then */
	size_t no_room, failed;
	bool has_changes;
	bool has_tables;            /* new tables came since those that wait were last built */
	uint64_t missed;            /* events, as of the last look */
	struct time_shares reading; /* by user */
	struct {
		ARRAY(struct short_stack);
	} stacks;           /* to be read for the parts that they need */
	bool awaits_parts;  /* some are being made */
	uint64_t parts_ns;  /* the last look for them */
	uint64_t made_ns;   /* when the last ones came */
	uint64_t needed_ns; /* the last look that found some */
	size_t parts;       /* that were made as of the last look */
};

/* Put it into a list, at the end, or take it out of it. */
#define unwinding_list(unwinder, of, name, is_listed)                   \
	do {                                                            \
		if ((of)->is_##name)                                    \
			TAILQ_REMOVE(&(unwinder)->name, of, name);      \
		(of)->is_##name = (is_listed);                          \
		if ((of)->is_##name)                                    \
			TAILQ_INSERT_TAIL(&(unwinder)->name, of, name); \
	} while (0)

/* --- unwinder.c --- */

/* The entry of a process, which is added. NULL: there is no memory, which is counted. */
struct unwinding *unwinder_add(struct unwinder *unwinder, uint32_t pid);
void unwinder_remove(struct unwinder *unwinder, struct unwinding *process);

/* Build what walkers read from what the process has mapped, and publish it; `quietly`: only if it
 * changed. */
void unwinder_build(struct unwinder *unwinder, struct unwinding *process,
		    const struct process_image *now, uint64_t time_ns, bool quietly);

/* The end of one kind of work of a tick, in time of a CPU, which a busy host does not lengthen. */
uint64_t unwinder_end_of_work(void);
bool unwinder_is_over(uint64_t end_ns);

/* --- unwinder_reading.c --- */

/* Read processes that have been quiet for a while and are known from events alone: events do not
 * report what is unmapped, nor how many pages may be executed. */
void unwinder_read_quiet(struct unwinder *unwinder);

/* Has such a process been quiet for long enough? */
bool unwinder_has_quiet(const struct unwinder *unwinder, uint64_t time_ns);

/* Read processes for which a walk has found that what is known is wrong. */
void unwinder_read_asked(struct unwinder *unwinder);

/* Time of a CPU for a process counts for its user, who may have none left. */
bool unwinder_is_user_free(const struct unwinder *unwinder, const struct unwinding *process);
void unwinder_charge(struct unwinder *unwinder, const struct unwinding *process, uint64_t cost_ns);

/* --- unwinder_parts.c --- */

/* Request the parts that walks have needed since, and what else their stacks need. */
void unwinder_request_parts(struct unwinder *unwinder);

/* When to look again; UINT64_MAX: there is no hurry. */
uint64_t unwinder_parts_due_ns(const struct unwinder *unwinder);

#endif
