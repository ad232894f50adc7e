/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a capture from /proc costs beside bare reading, and what writing it adds.
 *
 *	capture_ratio ROUNDS FILE	samples of both, by turns; FILE is written
 *	capture_ratio ours|reference	one of them once, for strace to look at
 */
#include <string.h>

#include "bare_reading.h"
#include "capture/capture.h"
#include "sample.h"
#include "snapshot/file.h"

static struct ctprof_snapshot *procfs_capture(void)
{
	const struct capture_options options = {
		.source = CAPTURE_PROC,
		.leave_out = 1u << SOURCE_TASKSTATS,
		.without = 1u << CAPTURE_PART_HEAP,
	};
	struct ctprof_snapshot *snapshot;

	must(capture_run(&options, &snapshot));
	return snapshot;
}

static void round_of_both(const char *file)
{
	struct cost start = cost_now(), capture, write, bare;
	struct ctprof_snapshot *snapshot = procfs_capture();

	capture = cost_since(start);
	start = cost_now();
	must(snapshot_save(snapshot, file));
	write = cost_since(start);
	snapshot_destroy(snapshot);
	start = cost_now();
	bare_reading();
	bare = cost_since(start);
	sample_print("capture", "ours", capture);
	sample_print("capture", "reference", bare);
	sample_print("write", "ours", write);
	sample_print("write", "reference", capture);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "ours") == 0) {
		snapshot_destroy(procfs_capture());
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "reference") == 0) {
		bare_reading();
		return 0;
	}
	if (argc != 3)
		errx(2, "usage: capture_ratio ROUNDS FILE | ours | reference");
	/* The first reading of a thread's files makes the kernel's entries for them. */
	bare_reading();
	for (unsigned left = rounds_of(argv[1]); left; left--)
		round_of_both(argv[2]);
	return 0;
}
