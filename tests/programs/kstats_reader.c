/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What others see of programs with libkstats, as lines for scripts.
 *
 *	kstats_reader list                  "PID:NAME active|stopped COUNT" for each
 *	kstats_reader read PID:NAME         "CPU SLOT COUNT SUM" for each slot of each CPU
 *	kstats_reader start|stop|reset PID:NAME
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "kstats/recorder.h"

static void or_die(struct error *error)
{
	if (error)
		errx(1, "%s", error->message);
}

static void list(void)
{
	struct kstats_entries entries = { 0 };

	or_die(kstats_user.list(&entries));
	for (size_t i = 0; i < entries.count; i++)
		printf("%s %s %llu\n", entries.items[i].name,
		       entries.items[i].is_active ? "active" : "stopped",
		       (unsigned long long)entries.items[i].count);
	kstats_entries_clear(&entries);
}

static void print_row(const struct kstats_row *row, unsigned slots)
{
	for (unsigned slot = 0; slot < slots; slot++)
		if (row->slots[slot].count)
			printf("%llu %u %llu %llu\n", (unsigned long long)row->id, slot,
			       (unsigned long long)row->slots[slot].count,
			       (unsigned long long)row->slots[slot].sum);
}

static void read_metric(const char *name)
{
	struct kstats_table *table;

	or_die(kstats_user.read(name, &table));
	for (size_t i = 0; i < table->rows.count; i++)
		print_row(&table->rows.items[i], BUCKET_SLOTS(table->frac_bits));
	kstats_table_destroy(table);
}

int main(int argc, char **argv)
{
	static const char *const commands[] = {
#define COMMAND_NAME(id, name, prose) [KSTATS_##id] = name,
		KSTATS_COMMANDS(COMMAND_NAME)
#undef COMMAND_NAME
	};

	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list(), 0;
	if (argc == 3 && strcmp(argv[1], "read") == 0)
		return read_metric(argv[2]), 0;
	for (unsigned i = 0; argc == 3 && i < KSTATS_COMMAND_COUNT; i++)
		if (strcmp(argv[1], commands[i]) == 0)
			return or_die(kstats_user.command(argv[2], i)), 0;
	errx(2, "kstats_reader list | read|start|stop|reset PID:NAME");
}
