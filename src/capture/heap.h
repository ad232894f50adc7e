/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads jemalloc's counters of the bytes that each thread allocated and freed, from the memory of
 * processes.
 *
 *	struct heap *heap;
 *	struct error *err = heap_open(&heap);
 *	for (;;) {
 *		capture(&request.snapshot);
 *		err = heap_take(heap, &request, &outcome);
 *	}
 *	heap_close(heap);
 *
 * For each process, find whether its program or a library contains jemalloc, and where jemalloc
 * keeps its counters (elf/jemalloc.h). Each file is analysed only once while the heap is open, and
 * of processes that are alike one is looked into, if it has no jemalloc: those of one program, user
 * and cgroup that have the same number of executable pages mapped. Then
 * process_vm_readv(2) reads the counters of all threads, 512 at a time, while they run: no thread
 * is stopped, and nothing is written to the process.
 *
 * This needs the thread pointer of each thread, a register that only the kernel can read. The
 * caller provides it, or, if allowed, ptrace(2), which stops each thread briefly.
 *
 * All of this may hang: memory whose faults a process handles itself (userfaultfd(2)), a file on an
 * unreachable server. So a worker thread does it (base/worker_pool.h), with a copy of its input. A
 * worker without progress for some seconds is abandoned: its results so far count, and another one
 * continues after that process. While a process of a user hangs, and until the user's slow reads
 * are below a tenth of the elapsed time, other processes of that user are skipped, except those of
 * root and of this user.
 */
#ifndef CAPTURE_HEAP_H
#define CAPTURE_HEAP_H

#include "snapshot/model.h"

struct heap;

struct error *heap_open(struct heap **ret) MUST_CHECK;

/* Takes NULL. A thread that hangs keeps what it needs, and frees it when it ever ends. */
void heap_close(struct heap *heap);

/* Facts about a process from the task iterator. */
struct heap_image {
	uint32_t tgid; /* first: it is searched by */
	uint32_t euid;
	bool has_memory;           /* false: it is a kernel thread, or has ended */
	uint64_t executable_pages; /* of its mappings; 0: unknown */
	uint64_t cgroup;
	uint64_t program; /* equal numbers are of the same executable file */
	uint64_t program_inode;
	uint32_t program_device; /* of its file system, as in the kernel: major << 20 | minor */
};

struct heap_request {
	int proc;          /* /proc of our own PID namespace */
	bool allow_ptrace; /* stop threads whose thread pointer is not known */
	struct ctprof_snapshot *snapshot;
	/* The thread pointer of a thread; 0: unknown. May be NULL: all are unknown. */
	uint64_t (*thread_pointer)(void *context, uint32_t tid);
	/* The image of a process; NULL: unknown. May be NULL itself. */
	const struct heap_image *(*image)(void *context, uint32_t tgid);
	void *context;
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
