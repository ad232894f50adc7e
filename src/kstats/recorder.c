/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/recorder.h"

#include <math.h>

const char *const kstats_commands[KSTATS_COMMAND_COUNT] = {
#define COMMAND_NAME(id, name, prose) [KSTATS_##id] = name,
	KSTATS_COMMANDS(COMMAND_NAME)
#undef COMMAND_NAME
};

void kstats_notes_clear(struct kstats_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->items[i]);
	array_deinit(notes);
}

void kstats_names_clear(struct kstats_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	array_deinit(names);
}

void kstats_entry_measure(struct kstats_entry *entry, const struct kstats_distribution *all,
			  uint64_t recorded_ns)
{
	entry->count = all->count;
	entry->p50 = kstats_percentile(all, 0.5);
	entry->p99 = kstats_percentile(all, 0.99);
	entry->rate = recorded_ns ? (double)all->count / ((double)recorded_ns / 1e9) : (double)NAN;
}

struct error *kstats_entry_of_table(struct kstats_table *table, struct kstats_entry *ret)
{
	_cleanup_(kstats_distribution_clear) struct kstats_distribution all = { 0 };
	struct error *err = kstats_distribution_of(table, NULL, &all);

	if (err)
		return err;
	ret->start = take_ptr(table->start);
	ret->end = take_ptr(table->end);
	ret->how = take_ptr(table->how);
	ret->scope = table->scope;
	table->scope = (struct kstats_scope){ 0 };
	ret->by = table->by;
	ret->is_active = table->is_active;
	ret->unit = take_ptr(table->unit);
	kstats_entry_measure(ret, &all, table->recorded_ns);
	return NULL;
}

void kstats_entries_clear(struct kstats_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		free(entries->items[i].name);
		free(entries->items[i].start);
		free(entries->items[i].end);
		free(entries->items[i].how);
		free(entries->items[i].unit);
		free(entries->items[i].program);
		kstats_scope_clear(&entries->items[i].scope);
	}
	array_deinit(entries);
	kstats_notes_clear(&entries->notes);
}
