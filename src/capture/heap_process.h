/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where one process has the counters of its threads; and what they are.
 */
#ifndef CAPTURE_HEAP_PROCESS_H
#define CAPTURE_HEAP_PROCESS_H

#include <sys/types.h>

#include "capture/heap_files.h"

struct heap_place {
	int64_t block; /* from the thread pointer to jemalloc's data */
	uint32_t allocated, deallocated;
};

struct heap_process {
	pid_t pid;
	int dir;                    /* of it, in /proc */
	const struct stat *program; /* what it runs */
};

/* PROBE_DONE, and the place; or why there is none. */
struct error *heap_find_place(struct heap_files *files, const struct heap_process *process,
			      enum probe_failure *ret_failure, struct heap_place *ret) MUST_CHECK;

/* The counters of one thread. */
struct heap_counters {
	uint64_t thread_pointer; /* 0: not known */
	enum probe_failure failure;
	uint64_t allocated, deallocated;
};

/* Read them for all threads without a failure so far; those that cannot be read get one. */
void heap_read(pid_t pid, const struct heap_place *place, struct heap_counters *threads,
	       size_t count);

/*
 * Are these bytes, from the one counter to the end of the other, what jemalloc has there?
 *
 * Since 5.3.0 each counter is followed by the value that it stays below until something is to be
 * done
 * (`thread_allocated_next_event_fast`), which is 0 or at most 4 MiB ahead. Of what lies closer
 * together, nothing can be said.
 */
bool heap_is_sound(const uint64_t *words, size_t count);

/*
 * Nothing is freed that was not allocated: the sums of a process must say so, unless threads that
 * ended took with them what they had allocated. So this holds where heap_is_sound has something to
 * say, and else says whether more was allocated.
 */
bool heap_adds_up(const struct heap_place *place, const struct heap_counters *threads,
		  size_t count);

#endif
