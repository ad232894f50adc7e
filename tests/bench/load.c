/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads a snapshot as every command does: `load FILE`.
 */
#include "sample.h"
#include "snapshot/file.h"

int main(int argc, char **argv)
{
	struct ctprof_snapshot *snapshot;

	if (argc != 2)
		errx(2, "usage: load FILE");
	must(snapshot_load(argv[1], &snapshot));
	printf("%zu\n", snapshot->threads.count);
	snapshot_destroy(snapshot);
	return 0;
}
