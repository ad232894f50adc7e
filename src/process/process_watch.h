/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sources of the process table: perf events about all processes (process/perf_events.h), and
 * /proc for processes that exist already.
 *
 *	struct process_watch *watch;
 *	err = process_watch_open(&(struct process_watch_options){ 0 }, &watch);
 *	...                                     attach what takes samples
 *	err = process_watch_start(watch);       read processes that exist
 *	while (...)
 *		process_watch_poll(watch);
 *	process_watch_settle(watch);
 *	table = process_watch_table(watch);
 *	thread.image = process_table_find_image(table, tgid, since_ns);
 *	err = process_table_put(table, profile);
 *	process_watch_close(watch);
 *
 * Process numbers are those of our own PID namespace; processes of others are not seen. Paths are
 * as the process sees them. The kernel reports no unmapping: a mapping stays until another one
 * takes its addresses, or the process is read again.
 *
 * Needs the capabilities of process/perf_events.h, and CAP_SYS_PTRACE to read processes of other
 * users.
 */
#ifndef PROCESS_PROCESS_WATCH_H
#define PROCESS_PROCESS_WATCH_H

#include "base/guard.h"
#include "process/process_table.h"

struct process_watch;

struct process_watch_options {
	const uint32_t *pids; /* these processes and their later children; copied */
	size_t pid_count;     /* 0: all processes */
	size_t max_memory;    /* of the table, in bytes; 0: 256 MiB */
	size_t ring_bytes;    /* for each CPU; 0: 256 KiB */
	size_t wake_bytes;    /* that make process_watch_fd() readable; 0: half a ring */
	struct guard *guard;  /* for reading processes; not owned. NULL: a call that hangs blocks */
	struct kept *kept;    /* for processes that make code (profile/kept.h); NULL: none */
};

/* Events are recorded from here on. */
struct error *process_watch_open(const struct process_watch_options *options,
				 struct process_watch **ret) MUST_CHECK;

/* Read the processes that exist. One that cannot be read has no image, which is no error. */
struct error *process_watch_start(struct process_watch *watch) MUST_CHECK;

/* Apply the events since the last time to the table, as far as their order is certain. Never
 * waits. A few times a second are enough: a ring holds about 2000 mappings. */
void process_watch_poll(struct process_watch *watch);

/* Apply all events that happened before this call. */
void process_watch_settle(struct process_watch *watch);

/* Did the last poll leave events for the next one? */
bool process_watch_has_waiting(const struct process_watch *watch);

/* Becomes readable, once, when `wake_bytes` of events wait: poll then. Owned by the watch. */
int process_watch_fd(const struct process_watch *watch);

/* Make process_watch_fd() readable also when this descriptor is. False: it cannot be. */
bool process_watch_add_fd(const struct process_watch *watch, int fd);

/* Is a descriptor that was added readable, or has process_watch_fd() become it since it was last
 * waited for? */
bool process_watch_is_readable(const struct process_watch *watch);

struct process_table *process_watch_table(struct process_watch *watch);

/* Settle, and replace what a process has mapped by what /proc shows. False: it cannot be read, and
 * the table is as before. */
bool process_watch_read_again(struct process_watch *watch, uint32_t pid);

/* Events that were lost because a ring was full or memory was short. Names and stacks of processes
 * of that time may be wrong. */
uint64_t process_watch_lost(const struct process_watch *watch);
/* The part of process_watch_lost() that may concern any process: events lost before they reached
 * the table. Each of the others concerns one process for which the table had no memory. */
uint64_t process_watch_missed(const struct process_watch *watch);

/* Takes NULL. */
void process_watch_close(struct process_watch *watch);
DEFINE_CLEANUP(process_watch_close, struct process_watch *)

#endif
