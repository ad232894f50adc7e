/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot_example FILE: a program as users of libctprof write it. Prints a line for each thread:
 * its number, its name, its run time in nanoseconds ("-" where it was not measured), and how many
 * metrics were measured.
 *
 *	cc $(pkg-config --cflags ctprof) snapshot_example.c $(pkg-config --libs ctprof)
 */
#include <ctprof/snapshot.h>
#include <inttypes.h>
#include <stdio.h>

static size_t count_measured(const struct ctprof_thread *thread)
{
	size_t count = 0;

	for (size_t metric = 0; metric < ctprof_metric_count(); metric++)
		count += ctprof_thread_measured(thread, metric);
	return count;
}

static void print_thread(const struct ctprof_thread *thread, size_t run_time)
{
	uint64_t ns;

	printf("%" PRIu32 " %s ", ctprof_thread_tid(thread), ctprof_thread_comm(thread));
	if (ctprof_thread_u64(thread, run_time, &ns))
		printf("%" PRIu64, ns);
	else
		printf("-");
	printf(" %zu\n", count_measured(thread));
}

int main(int argc, char **argv)
{
	struct ctprof_snapshot *snapshot;
	struct ctprof_error error;

	if (argc != 2) {
		fprintf(stderr, "usage: snapshot_example FILE\n");
		return 2;
	}
	if (ctprof_snapshot_open(argv[1], &snapshot, &error)) {
		fprintf(stderr, "snapshot_example: %s\n", error.message);
		return 1;
	}
	for (size_t i = 0; i < ctprof_snapshot_thread_count(snapshot); i++)
		print_thread(ctprof_snapshot_thread(snapshot, i),
			     ctprof_metric_find("run_time_ns"));
	ctprof_snapshot_close(snapshot);
	return 0;
}
