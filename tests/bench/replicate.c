/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A larger host out of a small one: `replicate FILE THREADS NEW` writes the threads of FILE over
 * and over under new numbers, until there are THREADS.
 */
#include <string.h>

#include "sample.h"
#include "snapshot/file.h"

/* Above the thread IDs of most hosts. */
#define NUMBERS_APART 4194304u

static void add_copy(struct ctprof_snapshot *s, size_t of, unsigned generation)
{
	struct ctprof_thread *copy = snapshot_add_thread(s);

	if (!copy)
		errx(1, "out of memory");
	*copy = *snapshot_thread(s, of);
	copy->tid += generation * NUMBERS_APART;
	copy->tgid += generation * NUMBERS_APART;
}

static void add_process_copy(struct ctprof_snapshot *s, size_t of, unsigned generation)
{
	struct process copy = s->processes.items[of];

	copy.tgid += generation * NUMBERS_APART;
	if (!array_push(&s->processes, copy))
		errx(1, "out of memory");
}

int main(int argc, char **argv)
{
	struct ctprof_snapshot *s;
	size_t threads, processes, wanted;

	if (argc != 4)
		errx(2, "usage: replicate FILE THREADS NEW");
	must(snapshot_load(argv[1], &s));
	wanted = strtoul(argv[2], NULL, 10);
	threads = s->threads.count;
	processes = s->processes.count;
	if (!threads || wanted / threads >= UINT32_MAX / NUMBERS_APART)
		errx(2, "cannot make %s threads of %zu", argv[2], threads);
	for (unsigned generation = 1; s->threads.count < wanted; generation++) {
		for (size_t i = 0; i < threads && s->threads.count < wanted; i++)
			add_copy(s, i, generation);
		for (size_t i = 0; i < processes; i++)
			add_process_copy(s, i, generation);
	}
	must(snapshot_save(s, argv[3]));
	snapshot_destroy(s);
	return 0;
}
