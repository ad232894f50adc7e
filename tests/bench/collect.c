/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects by BPF and writes nothing: all threads as records in memory, and no file of any process.
 * Starting, loading and ending are in it, as they are in the cost of every peer.
 */
#include "capture/capture.h"
#include "sample.h"

int main(void)
{
	const struct capture_options options = {
		.source = CAPTURE_BPF,
		.without = (1u << CAPTURE_PART_COUNT) - 1,
	};
	struct ctprof_snapshot *snapshot;

	must(capture_run(&options, &snapshot));
	printf("%zu\n", snapshot->threads.count);
	/* As a command does, memory is left to the end of the process. */
	return 0;
}
