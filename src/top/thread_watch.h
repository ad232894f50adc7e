/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles threads beside the screen: where they run and wait, which threads wake them and which
 * run instead. This takes a while to start, so it has a thread of its own.
 *
 *	struct thread_watch *watch = thread_watch_start(&target);
 *	thread_watch_print(watch, false, out);	now and then
 *	thread_watch_stop(watch);
 */
#ifndef TOP_THREAD_WATCH_H
#define TOP_THREAD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct thread_watch;

/* The threads to profile: of a process, of a cgroup, or listed. */
struct watch_target {
	uint32_t pid;    /* 0: none */
	uint64_t cgroup; /* its number; 0: none */
	const uint32_t *tids;
	size_t tid_count;
};

/* The target is copied. NULL without memory, or a thread for it. */
struct thread_watch *thread_watch_start(const struct watch_target *target);

/* Wait until there is a profile of a second or more up to now, none can be had, or `is_over` says
 * so. */
void thread_watch_finish(struct thread_watch *watch, bool (*is_over)(void));

/* Print the last profile, or why there is none; `is_over`: there will be no more. */
void thread_watch_print(struct thread_watch *watch, bool is_over, FILE *out);

/* The threads of one name that ran most while those that are watched were runnable. */
struct leading_preemptor {
	char name[64];    /* safe to print */
	uint32_t tid;     /* of the one that ran most */
	uint32_t threads; /* that ran */
	double share;     /* of the waits for a CPU; 0: there is none */
};

/* As of the last profile. False: none ran long enough to be a reason, or none is known. */
bool thread_watch_preemptor(struct thread_watch *watch, struct leading_preemptor *ret);

/* Where those that are watched wait for a lock that their stacks tell, as of the last profile:
 * "heap_update -> XactLockTableWait", and the part of their waits but for a CPU; allocated, and
 * safe to print. NULL: none is known. */
char *thread_watch_lock(struct thread_watch *watch, double *ret_share);

/* Ends soon after; takes NULL. */
void thread_watch_stop(struct thread_watch *watch);

/* Before the process ends: wait until those that were stopped have gone, for a second at most. */
void thread_watches_wait(void);

#endif
