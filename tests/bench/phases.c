/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of a capture by BPF cost beside each other: `phases ROUNDS` prints samples, by
 * turns, of an empty walk, of the walk, of the walk with threads put into a snapshot, of writing
 * that as JSON, of writing it compressed, and of compressing alone.
 *
 * The kernel's own count of what the two programs used comes from rounds of its own, since counting
 * costs time: "kernel SIDE NS", for each thread.
 */
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/capture.h"
#include "empty_walk.h"
#include "sample.h"
#include "snapshot/file.h"

/* --- walking --- */

static struct cost empty_walk(void)
{
	struct cost start;

	empty_walk_begin();
	start = cost_now();
	empty_walk_run();
	return cost_since(start);
}

/* Read all records and ignore them. */
static struct cost full_walk(struct task_iterator *tasks)
{
	struct task_batch_view batch;
	struct cost start;

	must(task_iterator_begin(tasks, true));
	start = cost_now();
	do
		must(task_iterator_next(tasks, &batch));
	while (batch.count);
	return cost_since(start);
}

/* The kernel counts run times while this descriptor is open; -1: it does not. */
static int kernel_counts(void)
{
	union bpf_attr attr = { .enable_stats = { .type = BPF_STATS_RUN_TIME } };

	return (int)syscall(SYS_bpf, BPF_ENABLE_STATS, &attr, sizeof(attr));
}

static void print_count(const char *side, struct task_iterator_cost before,
			struct task_iterator_cost after)
{
	printf("kernel %s %.3f\n", side,
	       (double)(after.ns - before.ns) / (double)(after.runs - before.runs));
}

static void round_of_counts(struct task_iterator *tasks)
{
	struct task_iterator_cost full = task_iterator_cost(tasks), empty = empty_walk_cost();
	int counts = kernel_counts();

	if (counts < 0)
		err(1, "statistics of BPF programs");
	full_walk(tasks);
	empty_walk();
	close(counts);
	print_count("walk", full, task_iterator_cost(tasks));
	print_count("empty", empty, empty_walk_cost());
}

/* --- collecting and writing --- */

static struct error *drop(void *context, const void *bytes, size_t length)
{
	(void)bytes;
	*(size_t *)context += length;
	return NULL;
}

static struct cost write_json(const struct ctprof_snapshot *snapshot)
{
	struct cost start = cost_now();
	size_t length = 0;

	must(snapshot_write_json(snapshot, drop, &length));
	return cost_since(start);
}

static struct cost write_compressed(const struct ctprof_snapshot *snapshot)
{
	struct cost start = cost_now(), cost;
	size_t length;
	char *bytes;

	must(snapshot_pack(snapshot, &bytes, &length));
	cost = cost_since(start);
	free(bytes);
	return cost;
}

static struct error *keep(void *context, const void *bytes, size_t length)
{
	if (fwrite(bytes, 1, length, context) != length)
		errx(1, "out of memory");
	return NULL;
}

/* The input is in memory before the clock starts, and the output is discarded. */
static struct cost compress_alone(const struct ctprof_snapshot *snapshot)
{
	struct zstream_writer zstd;
	struct cost start, took;
	size_t length, dropped = 0;
	char *text;
	FILE *all = open_memstream(&text, &length);

	if (!all)
		err(1, "open_memstream");
	must(snapshot_write_json(snapshot, keep, all));
	fclose(all);
	start = cost_now();
	must(zstream_writer_init(&zstd, drop, &dropped));
	must(zstream_write(&zstd, text, length));
	must(zstream_finish(&zstd));
	zstream_writer_deinit(&zstd);
	took = cost_since(start);
	free(text);
	return took;
}

static struct ctprof_snapshot *collect(struct capturer *capturer, struct cost *ret)
{
	struct cost start = cost_now();
	struct ctprof_snapshot *snapshot;

	must(capturer_take(capturer, &snapshot));
	*ret = cost_since(start);
	return snapshot;
}

static void round_of_all(struct task_iterator *tasks, struct capturer *capturer)
{
	struct cost empty = empty_walk(), full = full_walk(tasks), records, json, compressed, zstd;
	struct ctprof_snapshot *snapshot = collect(capturer, &records);

	json = write_json(snapshot);
	compressed = write_compressed(snapshot);
	zstd = compress_alone(snapshot);
	sample_print("phases", "empty", empty);
	sample_print("phases", "walk", full);
	sample_print("phases", "records", records);
	sample_print("phases", "json", json);
	sample_print("phases", "written", compressed);
	sample_print("phases", "zstd", zstd);
	snapshot_destroy(snapshot);
}

int main(int argc, char **argv)
{
	/* Only the output of the walk. */
	const struct capture_options options = {
		.source = CAPTURE_BPF,
		.without = (1u << CAPTURE_PART_COUNT) - 1,
	};
	struct task_iterator *tasks;
	struct capturer *capturer;

	if (argc != 2)
		errx(2, "usage: phases ROUNDS");
	empty_walk_open();
	must(task_iterator_open(&tasks));
	must(capturer_open(&options, &capturer));
	full_walk(tasks);
	for (unsigned left = rounds_of(argv[1]); left; left--)
		round_of_all(tasks, capturer);
	for (unsigned left = rounds_of(argv[1]); left; left--)
		round_of_counts(tasks);
	capturer_close(capturer);
	task_iterator_close(tasks);
	empty_walk_close();
	return 0;
}
