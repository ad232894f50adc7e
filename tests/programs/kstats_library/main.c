/* SPDX-License-Identifier: BSD-2-Clause */
#include "modes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kstats/shared_memory.h"

static const struct {
	const char *name, *words;
	unsigned count;
	int (*run)(char **words);
} modes[] = {
	{ "count", "THREADS RECORDS", 2, count_mode },
	{ "signals", "THREADS RECORDS", 2, signals_mode },
	{ "fork", "PROCESSES RECORDS", 2, fork_mode },
	{ "races", "THREADS SECONDS", 2, races_mode },
	{ "serve", "NAME BITS", 2, serve_mode },
};

void or_die(struct error *err)
{
	if (!err)
		return;
	printf("%s\n", err->message);
	exit(1);
}

static char *name_in(int pid, const char *name)
{
	char *full;

	if (asprintf(&full, "%d:%s", pid, name) < 0)
		exit(1);
	return full;
}

struct kstats_slot total_of(int pid, const char *name)
{
	_cleanup_free_ char *full = name_in(pid, name);
	struct kstats_slot total = { 0 };
	struct kstats_table *table;

	or_die(kstats_user.read(full, &table));
	for (size_t row = 0; row < table->rows.count; row++)
		for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++) {
			total.count += table->rows.items[row].slots[slot].count;
			total.sum += table->rows.items[row].slots[slot].sum;
		}
	kstats_table_destroy(table);
	return total;
}

void command_to(int pid, const char *name, enum kstats_command command)
{
	_cleanup_free_ char *full = name_in(pid, name);

	or_die(kstats_user.command(full, command));
}

struct kstats_slot raw_total(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	const struct kstats_shared_header *header = NULL;
	struct kstats_slot total = { 0 };
	char line[4096], path[128];
	unsigned long start;

	snprintf(path, sizeof(path), "/memfd:kstats:%s (deleted)", name);
	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, path) && sscanf(line, "%lx-", &start) == 1)
			header = (const void *)start;
	if (!header)
		exit(1);
	fclose(maps);
	for (unsigned table = 0; table < KSTATS_PART_FORGOTTEN * header->cpus; table++) {
		const struct kstats_shared_slot *slots =
			(const void *)((const char *)header + kstats_shared_table(header->frac_bits,
										  header->cpus, 0,
										  table));

		for (unsigned slot = 0; slot < BUCKET_SLOTS(header->frac_bits); slot++) {
			total.count += slots[slot].count;
			total.sum += slots[slot].sum;
		}
	}
	return total;
}

bool is_all(const char *mode, struct kstats_slot got, struct kstats_slot wanted)
{
	printf("%s: %llu of %llu values, sum %llu of %llu\n", mode, (unsigned long long)got.count,
	       (unsigned long long)wanted.count, (unsigned long long)got.sum,
	       (unsigned long long)wanted.sum);
	return got.count == wanted.count && got.sum == wanted.sum;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < array_length(modes); i++)
		if (strcmp(modes[i].name, argv[1]) == 0 && (unsigned)argc == 2 + modes[i].count)
			return modes[i].run(argv + 2);
	for (size_t i = 0; i < array_length(modes); i++)
		fprintf(stderr, "%s %s %s\n", argv[0], modes[i].name, modes[i].words);
	return 2;
}
