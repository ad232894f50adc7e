/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where one thread waits, who wakes it and who runs instead: a profile of it that goes on beside
 * the screen, in a thread of its own, for it takes a while to begin.
 *
 *	struct thread_watch *watch = thread_watch_start(tid);
 *	thread_watch_print(watch, out);		now and then
 *	thread_watch_stop(watch);
 */
#ifndef CMD_THREAD_WATCH_H
#define CMD_THREAD_WATCH_H

#include <stdint.h>
#include <stdio.h>

struct thread_watch;

/* NULL without memory, or a thread for it. */
struct thread_watch *thread_watch_start(uint32_t tid);

/* What was seen last, or why there is nothing. */
void thread_watch_print(struct thread_watch *watch, FILE *out);

/* Ends soon after; takes NULL. */
void thread_watch_stop(struct thread_watch *watch);

/* Before the process ends: wait until those that were stopped have gone, for a second at most. */
void thread_watches_wait(void);

#endif
