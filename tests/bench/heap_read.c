/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_read ROUNDS PROGRAM THREADS: start PROGRAM (tests/programs/heap.c) and read the counters of
 * its threads with the thread pointers that it prints: as a capture does that knows them from the
 * kernel, stopping nobody. Prints
 *
 *	threads COUNT wrong COUNT
 *	first NS            of the first reading, which looks into files, by thread
 *	again NS            of the fastest of the others
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "capture/heap.h"

struct wanted {
	uint64_t *allocated, *deallocated, *pointers;
	struct ctprof_snapshot *snapshot;
};

static FILE *start(char **command, pid_t *ret)
{
	int ends[2];

	if (pipe(ends))
		err(1, "pipe");
	*ret = fork();
	if (*ret < 0)
		err(1, "fork");
	if (*ret == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		execv(command[0], command);
		err(1, "%s", command[0]);
	}
	close(ends[1]);
	return fdopen(ends[0], "r");
}

static void read_threads(FILE *from, pid_t pid, size_t most, struct wanted *ret)
{
	char line[256];

	ret->allocated = calloc(most, sizeof(uint64_t));
	ret->deallocated = calloc(most, sizeof(uint64_t));
	ret->pointers = calloc(most, sizeof(uint64_t));
	error_destroy(snapshot_create(&ret->snapshot));
	snapshot_trust(ret->snapshot);
	for (size_t i = 0; fgets(line, sizeof(line), from) && strcmp(line, "ready\n") != 0; i++) {
		struct ctprof_thread *thread = snapshot_add_thread(ret->snapshot);

		if (i >= most || !thread ||
		    sscanf(line, "thread %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			   &thread->tid, &ret->allocated[i], &ret->deallocated[i],
			   &ret->pointers[i]) != 4)
			errx(1, "what is '%s'?", line);
		thread->tgid = (uint32_t)pid;
	}
}

static size_t count_wrong(const struct wanted *wanted)
{
	size_t wrong = 0;

	for (size_t i = 0; i < wanted->snapshot->threads.count; i++) {
		const struct thread_record *record = &snapshot_thread(wanted->snapshot, i)->record;

		wrong += !metric_set_has(&record->measured, METRIC_allocated_bytes) ||
			 record->values.allocated_bytes.v != wanted->allocated[i] ||
			 record->values.deallocated_bytes.v != wanted->deallocated[i];
	}
	return wrong;
}

/* Threads are asked about in the order of the snapshot. */
static uint64_t pointer_of(void *context, uint32_t tid)
{
	const struct wanted *wanted = context;
	static size_t next;

	for (size_t i = 0; i < wanted->snapshot->threads.count; i++, next++) {
		next %= wanted->snapshot->threads.count;
		if (snapshot_thread(wanted->snapshot, next)->tid == tid)
			return wanted->pointers[next++];
	}
	return 0;
}

static double take(struct heap *heap, struct wanted *wanted)
{
	const struct heap_request request = {
		.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.snapshot = wanted->snapshot,
		.thread_pointer = pointer_of,
		.context = wanted,
	};
	struct heap_outcome outcome;
	struct timespec start, end;
	struct error *failed;

	clock_gettime(CLOCK_MONOTONIC, &start);
	failed = heap_take(heap, &request, &outcome);
	clock_gettime(CLOCK_MONOTONIC, &end);
	close(request.proc);
	if (failed)
		errx(1, "%s", failed->message);
	if (outcome.summary.failed.value)
		warnx("%s", outcome.summary.dominant_failure->bytes);
	return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
	       (double)wanted->snapshot->threads.count;
}

int main(int argc, char **argv)
{
	struct wanted wanted;
	struct heap *heap;
	double first, best = 0;
	FILE *said;
	pid_t pid;

	if (argc != 4 || atoi(argv[3]) < 1)
		errx(2, "usage: heap_read ROUNDS PROGRAM THREADS");
	said = start(argv + 2, &pid);
	read_threads(said, pid, (size_t)atoi(argv[3]), &wanted);
	if (!wanted.snapshot->threads.count)
		errx(1, "%s has no threads", argv[2]);
	error_destroy(heap_open(&heap));
	first = take(heap, &wanted);
	for (int i = 0; i < atoi(argv[1]); i++) {
		double ns = take(heap, &wanted);

		if (!i || ns < best)
			best = ns;
	}
	printf("threads %zu wrong %zu\nfirst %.0f\nagain %.0f\n", wanted.snapshot->threads.count,
	       count_wrong(&wanted), first, best);
	heap_close(heap);
	kill(pid, SIGKILL);
	return 0;
}
