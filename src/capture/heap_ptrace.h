/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thread pointers by ptrace(2): each thread is stopped, for some ten microseconds, to read a
 * register.
 *
 * No thread stays stopped, whatever happens: all of it is done by a thread of our own that ends,
 * and the kernel then lets go of what that still holds (exit_ptrace() in kernel/ptrace.c), even a
 * thread that was asked to stop and could not yet. The same holds when we are killed.
 */
#ifndef CAPTURE_HEAP_PTRACE_H
#define CAPTURE_HEAP_PTRACE_H

#include "capture/heap_process.h"

struct heap_trace {
	int proc;                      /* /proc of our own PID namespace */
	uint32_t tgid;                 /* whose threads they are */
	const uint32_t *tids;          /* `count` of them */
	struct heap_counters *threads; /* the same */
	size_t count;
};

/* Write the thread pointers of those that have none and no failure, or the failure. */
void heap_trace(const struct heap_trace *trace);

#endif
