/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locate and read jemalloc's counters of the threads of one process.
 */
#ifndef CAPTURE_HEAP_PROCESS_H
#define CAPTURE_HEAP_PROCESS_H

#include <sys/types.h>

#include "capture/heap_files.h"

/* Where each thread of a process has its counters. */
struct heap_location {
	int64_t block;                   /* jemalloc's data, relative to the thread pointer */
	uint32_t allocated, deallocated; /* the counters, relative to the block */
};

struct heap_process {
	pid_t pid;
	int dir;                    /* its directory in /proc */
	const struct stat *program; /* its executable */
};

/* Find the location. *ret_failure is PROBE_DONE, or why there is none. */
struct error *heap_locate(struct heap_files *files, const struct heap_process *process,
			  enum probe_failure *ret_failure, struct heap_location *ret) MUST_CHECK;

/* The counters of one thread. */
struct heap_counters {
	uint64_t thread_pointer; /* 0: not known */
	enum probe_failure failure;
	uint64_t allocated, deallocated;
};

/* Read the counters of all threads without a failure; threads that cannot be read get one. */
void heap_read(pid_t pid, const struct heap_location *location, struct heap_counters *threads,
	       size_t count);

/*
 * Can these words, from the first counter to the end of the other, be jemalloc's?
 *
 * Since 5.3.0 each counter is followed by the value at which jemalloc's next event is due
 * (`thread_allocated_next_event_fast`). That is 0, or at most 4 MiB above the counter. In older
 * versions the counters are adjacent, and nothing can be checked.
 */
bool heap_is_sound(const uint64_t *words, size_t count);

/*
 * Is the location plausible? Either heap_is_sound can check it; or the threads of the process have
 * not freed more than they allocated in sum. (A sum may be lower because threads have ended; so
 * this is not required if heap_is_sound applies.)
 */
bool heap_adds_up(const struct heap_location *location, const struct heap_counters *threads,
		  size_t count);

#endif
