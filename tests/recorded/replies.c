/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replies FAMILY FILE...: read netlink messages that a kernel sent about threads, each in a file of
 * its own, and print what they hold as "WHO FIELD VALUE"; WHO is the file's name without ".bin".
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/taskstats.h"

static const char *const suffixes[TASKSTATS_PART_COUNT] = {
	[TASKSTATS_COUNT] = "count",
	[TASKSTATS_TOTAL] = "delay_total",
	[TASKSTATS_MAX] = "delay_max",
	[TASKSTATS_MIN] = "delay_min",
};

static const char *const categories[TASKSTATS_CATEGORY_COUNT] = {
#define CATEGORY(name, ...) [TASKSTATS_##name] = #name,
	TASKSTATS_CATEGORIES(CATEGORY)
#undef CATEGORY
};

static void print_field(const char *who, const struct taskstats_values *stats, unsigned field,
			const char *name)
{
	if (stats->present >> field & 1)
		printf("%s %s %" PRIu64 "\n", who, name, stats->values[field]);
}

static void print_stats(const char *who, const struct taskstats_values *stats)
{
	printf("%s version %u\n", who, stats->version);
	for (unsigned c = 0; c < TASKSTATS_CATEGORY_COUNT; c++) {
		for (unsigned part = 0; part < TASKSTATS_PART_COUNT; part++) {
			char name[64];

			snprintf(name, sizeof(name), "%s_%s", categories[c], suffixes[part]);
			print_field(who, stats, taskstats_field(c, part), name);
		}
	}
	print_field(who, stats, TASKSTATS_HIWATER_RSS, "hiwater_rss");
	print_field(who, stats, TASKSTATS_HIWATER_VM, "hiwater_vm");
}

static void print_reply(const char *who, const struct taskstats_reply *reply)
{
	if (reply->failed) {
		printf("%s failed %s\n", who, strerrorname_np(reply->failed));
		return;
	}
	printf("%s tid %" PRIu32 "\n", who, reply->tid);
	print_stats(who, &reply->stats);
}

static void print_file(const char *path, uint16_t family)
{
	_Alignas(8) char bytes[4096];
	const char *slash = strrchr(path, '/');
	char *who = strdup(slash ? slash + 1 : path);
	FILE *file = fopen(path, "re");
	struct taskstats_reply reply;
	struct text datagram = { bytes, 0 };

	if (!who || !file)
		err(1, "%s", path);
	who[strcspn(who, ".")] = '\0';
	datagram.length = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	if (taskstats_next_reply(&datagram, family, &reply))
		print_reply(who, &reply);
	if (datagram.length)
		printf("%s left %zu\n", who, datagram.length);
	free(who);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "usage: replies FAMILY FILE...");
	for (int i = 2; i < argc; i++)
		print_file(argv[i], (uint16_t)strtoul(argv[1], NULL, 10));
	return 0;
}
