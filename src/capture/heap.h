/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each thread allocated and freed: the counters of jemalloc, read out of the processes.
 *
 *	struct heap *heap;
 *	struct error *err = heap_open(&heap);
 *	for (;;) {
 *		capture(&request.snapshot);
 *		err = heap_take(heap, &request, &outcome);
 *	}
 *	heap_close(heap);
 *
 * For each process: does its program, or a library of it, have jemalloc in it, and where does that
 * keep its counters (elf/jemalloc.h)? Each file is looked at once for as long as the heap is
 * open. Then the counters of all threads are read by process_vm_readv(2), 512 threads at a time,
 * while they run: no thread is stopped, and nothing is written to the process.
 *
 * That needs to know where the storage of a thread is: its thread pointer, a register that only the
 * kernel can tell. It comes from the caller, or, if allowed, by ptrace(2), which stops each thread
 * for a moment.
 *
 * Any of this may hang: memory whose faults a process handles itself (userfaultfd(2)), a file on a
 * server that is gone. So a worker thread does it (base/worker_pool.h) with a copy of what it
 * needs. A worker that makes no progress for some seconds is left behind: what it has read until
 * then counts, and another one goes on behind the process. Other processes of the same user, but
 * for root and our own, are left out as long as one of them hangs, and until their slow reads are
 * below a tenth of the elapsed time.
 */
#ifndef CAPTURE_HEAP_H
#define CAPTURE_HEAP_H

#include "snapshot/model.h"

struct heap;

struct error *heap_open(struct heap **ret) MUST_CHECK;

/* Takes NULL. A thread that hangs keeps what it needs, and frees it when it ever ends. */
void heap_close(struct heap *heap);

struct heap_request {
	int proc;          /* /proc of our own PID namespace */
	bool allow_ptrace; /* stop threads whose thread pointer is not known */
	struct ctprof_snapshot *snapshot;
	/* The thread pointer of a thread; 0: unknown. May be NULL: all are unknown. */
	uint64_t (*thread_pointer)(const void *context, uint32_t tid);
	const void *context;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: as long as it gets on */
};

struct heap_outcome {
	struct probe_summary summary;
	uint64_t not_reached; /* processes that there was no time for: "timed-out" in the summary */
};

/*
 * Give allocated_bytes and deallocated_bytes to the threads of the snapshot that have them; those
 * of one process must stand together. What kept others from it goes into the summary. Fails without
 * memory, descriptors or threads only.
 *
 * A thread that ended since the snapshot was taken may get what it, or its successor in the same
 * storage, had last. Our own process is left out.
 */
struct error *heap_take(struct heap *heap, const struct heap_request *request,
			struct heap_outcome *ret) MUST_CHECK;

#endif
