/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detached threads, and how many there may usefully be.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stdbool.h>

#include "base/error.h"

/* The number of online CPUs, at least 1; and of those on which the calling thread may run. */
unsigned cpus_online(void);
unsigned cpus_allowed(void);

/*
 * Runs `work` in a detached thread. It gets no signals but those of its own crash: others are for
 * the first thread of the process. Its stack has 1 MiB, for paths and buffers on the way down, of
 * which libdw has some. False: the thread cannot be created, and `work` is not called.
 */
bool thread_start(void *(*work)(void *), void *argument);

/* The work of a thread with what others wrote, which may be hostile. */
enum thread_kind {
	THREAD_PARSER,  /* reads files and memory of other processes */
	THREAD_WATCHER, /* and tells BPF programs of them */
	THREAD_CLIENT,  /* asks servers, and parses their answers */
};

/*
 * The same for such work: the thread is confined before `work` is called (thread_confine). Threads
 * that it creates are confined with it.
 */
bool thread_start_confined(enum thread_kind kind, void *(*work)(void *), void *argument);

/* Runs `work` in such a thread and waits for it, however long that takes. Without a thread the work
 * is not done, for the caller is not confined: that is the error, which names `purpose` ("read
 * FILE"). */
struct error *thread_run_confined(enum thread_kind kind, void (*work)(void *), void *argument,
				  const char *purpose) MUST_CHECK;

/* The error that there is no thread for `purpose`. */
struct error *thread_missing(const char *purpose) MUST_CHECK;

/* `confine` is called first in each thread of thread_start_confined(). Set it before there is one;
 * without it such threads are like others, as in tests. */
void thread_confine(void (*confine)(enum thread_kind kind));

#endif
