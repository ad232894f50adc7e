/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/recorder.h"

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

void kstats_entries_clear(struct kstats_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		free(entries->items[i].name);
		free(entries->items[i].start);
		free(entries->items[i].end);
		free(entries->items[i].how);
		kstats_scope_clear(&entries->items[i].scope);
	}
	array_deinit(entries);
	kstats_notes_clear(&entries->notes);
}
