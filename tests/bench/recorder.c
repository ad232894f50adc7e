/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What recording costs: `recorder ROUNDS SECONDS FILE` captures by BPF every SECONDS and writes
 * each capture. Samples are what one costs, beside the time from one to the next; the first, which
 * is dearer, is not among them.
 */
#include <unistd.h>

#include "capture/capture.h"
#include "sample.h"
#include "snapshot/file.h"

static struct cost record(struct capturer *capturer, const char *file)
{
	struct cost start = cost_now();
	struct ctprof_snapshot *snapshot;

	must(capturer_take(capturer, &snapshot));
	must(snapshot_save(snapshot, file));
	snapshot_destroy(snapshot);
	return cost_since(start);
}

int main(int argc, char **argv)
{
	const struct capture_options options = { .source = CAPTURE_BPF };
	struct capturer *capturer;
	unsigned seconds;

	if (argc != 4)
		errx(2, "usage: recorder ROUNDS SECONDS FILE");
	seconds = rounds_of(argv[2]);
	must(capturer_open(&options, &capturer));
	record(capturer, argv[3]);
	for (unsigned left = rounds_of(argv[1]); left; left--) {
		sleep(seconds);
		sample_print("recorder", "ctprof", record(capturer, argv[3]));
		sample_print("recorder", "interval", (struct cost){ seconds, seconds });
	}
	capturer_close(capturer);
	return 0;
}
