/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From one process to the next for the counters of jemalloc (heap.h): what a thread of its own
 * does, which knows nothing of a snapshot, because it may hang at each of them.
 */
#ifndef CAPTURE_HEAP_WALK_H
#define CAPTURE_HEAP_WALK_H

#include "base/file.h"
#include "capture/heap.h"
#include "capture/heap_process.h"
#include "snapshot/model.h"

/* A thread, as far as it matters here. */
struct heap_thread {
	uint32_t tid, tgid;
	size_t index;              /* in the snapshot: the caller's */
	struct reading start_time; /* clock ticks since boot */
	struct heap_image image;   /* of its process, if it leads it */
	char state;                /* as in /proc/<pid>/stat */
	bool measured;             /* `counters` have what it allocated and freed */
	struct heap_counters counters;
};

/* The numbers of inspected processes, of those with jemalloc, and of threads that were read; and
 * failures, each process or thread once. */
struct heap_tally {
	uint64_t walked, detected, ok, failures[PROBE_FAILURE_COUNT];
};

/* Processes with the same values have the same libraries: a library with jemalloc is loaded from
 * the start of a program, and adds some hundred executable pages. */
struct alike {
	uint64_t program, executable_pages, cgroup, euid;
};

struct heap_walk {
	int proc;          /* /proc of our own PID namespace; not owned */
	bool allow_ptrace; /* stop threads whose thread pointer is not known */
	/* All zero is empty: what stays from one walk to the next. */
	struct heap_files files;
	struct file_buffer buffer;
	struct word_map without; /* processes that have no jemalloc */
	struct alike_without {
		MAP(struct alike, bool);
	} alike_without; /* what processes without jemalloc are like, in this capture */
	/* The process that is being read. */
	struct {
		ARRAY(struct heap_counters);
	} counters;
	struct {
		ARRAY(uint32_t);
	} tids;
};

void heap_walk_deinit(struct heap_walk *walk);

/* Before the processes of a capture. */
void heap_walk_begin(struct heap_walk *walk);

/* The threads of one process, `count` of them, and into the tally what came of it. Fails without
 * memory or descriptors only. */
struct error *heap_walk_process(struct heap_walk *walk, struct heap_thread *threads, size_t count,
				struct heap_tally *tally) MUST_CHECK;

#endif
