/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * delays TID: what taskstats says of a thread, as lines "METRIC VALUE" in ctprof's names and units.
 * Fields that this kernel's struct taskstats does not have are left out.
 *
 * Where the fields are was taken from the type information (BTF) of these kernels, struct by
 * struct:
 *
 *	version  bytes  kernel
 *	13       416    6.1
 *	14       432    6.12
 *	16       560    6.18
 *	17       688    7.2
 *
 * Each of these only adds to the end of the one before. One that is not in this list is refused:
 * version 15, for one, does not.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "taskstats_netlink.h"

static const struct {
	uint16_t version;
	size_t bytes;
} known[] = { { 13, 416 }, { 14, 432 }, { 16, 560 }, { 17, 688 } };

static const struct {
	const char *metric;
	size_t offset;
	uint64_t unit;
} fields[] = {
	{ "cpu_delay_count", 16, 1 },         { "cpu_delay_total_ns", 24, 1 },
	{ "blkio_delay_count", 32, 1 },       { "blkio_delay_total_ns", 40, 1 },
	{ "swapin_delay_count", 48, 1 },      { "swapin_delay_total_ns", 56, 1 },
	{ "hiwater_rss_bytes", 200, 1024 },   { "hiwater_vm_bytes", 208, 1024 },
	{ "freepages_delay_count", 312, 1 },  { "freepages_delay_total_ns", 320, 1 },
	{ "thrashing_delay_count", 328, 1 },  { "thrashing_delay_total_ns", 336, 1 },
	{ "compact_delay_count", 352, 1 },    { "compact_delay_total_ns", 360, 1 },
	{ "wpcopy_delay_count", 400, 1 },     { "wpcopy_delay_total_ns", 408, 1 },
	{ "irq_delay_count", 416, 1 },        { "irq_delay_total_ns", 424, 1 },
	{ "cpu_delay_max_ns", 432, 1 },       { "cpu_delay_min_ns", 440, 1 },
	{ "blkio_delay_max_ns", 448, 1 },     { "blkio_delay_min_ns", 456, 1 },
	{ "swapin_delay_max_ns", 464, 1 },    { "swapin_delay_min_ns", 472, 1 },
	{ "freepages_delay_max_ns", 480, 1 }, { "freepages_delay_min_ns", 488, 1 },
	{ "thrashing_delay_max_ns", 496, 1 }, { "thrashing_delay_min_ns", 504, 1 },
	{ "compact_delay_max_ns", 512, 1 },   { "compact_delay_min_ns", 520, 1 },
	{ "wpcopy_delay_max_ns", 528, 1 },    { "wpcopy_delay_min_ns", 536, 1 },
	{ "irq_delay_max_ns", 544, 1 },       { "irq_delay_min_ns", 552, 1 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void check_layout(const char *stats, size_t bytes)
{
	uint16_t version;

	memcpy(&version, stats, sizeof(version));
	for (size_t i = 0; i < COUNT(known); i++)
		if (known[i].version == version && known[i].bytes == bytes)
			return;
	errx(1, "a struct taskstats of version %u and %zu bytes is not known", version, bytes);
}

int main(int argc, char **argv)
{
	const struct nlattr *both, *stats;
	struct message m;
	uint64_t value;

	if (argc != 2)
		errx(2, "usage: delays TID");
	open_netlink();
	ask_thread(&m, ask_family(), (unsigned)strtoul(argv[1], NULL, 10));
	both = find_in(&m, TASKSTATS_TYPE_AGGR_PID);
	stats = find(value_of(both), length_of(both), TASKSTATS_TYPE_STATS);
	check_layout(value_of(stats), length_of(stats));
	for (size_t i = 0; i < COUNT(fields); i++) {
		if (fields[i].offset + sizeof(value) > length_of(stats))
			continue;
		memcpy(&value, (const char *)value_of(stats) + fields[i].offset, sizeof(value));
		printf("%s %llu\n", fields[i].metric, (unsigned long long)(value * fields[i].unit));
	}
	return 0;
}
