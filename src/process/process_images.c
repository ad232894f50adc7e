/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The images of processes as they were: which one a process had at some time, adding those that
 * were found to a profile, and forgetting those that ended.
 */
#include "process/process_table_internal.h"

/* Below this many process numbers none are removed. */
#define NUMBERS_KEPT 4096

size_t process_table_image_count(const struct process_table *table)
{
	return table->count;
}

void process_table_destroy_image(struct process_table *table, struct process_image *image)
{
	image_memory_drop(&table->memory, image->space);
	image_memory_drop(&table->memory, image->now);
	table->memory.used -= sizeof(*image);
	table->count--;
	free(image);
}

/* --- finding --- */

uint32_t process_table_find_image(struct process_table *table, uint32_t pid, uint64_t time_ns)
{
	struct process_image *image = process_table_latest(table, pid);

	while (image && image->begun_ns > time_ns)
		image = image->before;
	if (!image || !image->space || !image->space->count)
		return 0;
	if (!image->number) {
		if (!array_push(&table->found, image))
			return 0;
		image->number = (uint32_t)table->found.count;
	}
	return image->number;
}

/* The same name in the profile; NULL stays NULL. False without memory. */
static bool copy_name_to_profile(struct profile *profile, const struct name *name,
				 const struct name **ret)
{
	*ret = name ? profile_name(profile, name->bytes, name->length) : NULL;
	return !name || *ret;
}

/* Processes that share a space share its mappings there, too. */
static bool put_space(const struct process_table *table, struct address_space *space,
		      struct profile *profile)
{
	if (space->round == table->round)
		return true;
	if (profile->mappings.count > UINT32_MAX - space->count)
		return false;
	space->place = (uint32_t)profile->mappings.count;
	for (size_t i = 0; i < space->count; i++) {
		struct profile_mapping mapping = space->items[i];

		if (!copy_name_to_profile(profile, mapping.path, &mapping.path) ||
		    !array_push(&profile->mappings, mapping))
			return false;
	}
	space->round = table->round;
	return true;
}

static bool put_image(const struct process_table *table, const struct process_image *image,
		      struct profile *profile)
{
	struct profile_image put = {
		.pid = image->pid,
		.mapping_count = (uint32_t)image->space->count,
		.is_over = image->is_over,
		.ended_ns = image->ended_ns,
	};

	if (!copy_name_to_profile(profile, image->exe, &put.exe) ||
	    !put_space(table, image->space, profile))
		return false;
	put.first_mapping = image->space->place;
	return array_push(&profile->images, put);
}

struct error *process_table_put(struct process_table *table, struct profile *profile)
{
	for (size_t i = 0; i < table->found.count; i++)
		if (!put_image(table, table->found.items[i], profile))
			return &error_no_memory;
	for (size_t i = 0; i < table->found.count; i++)
		table->found.items[i]->number = 0;
	table->found.count = 0;
	table->round++;
	return NULL;
}

/* --- forgetting --- */

static bool is_forgotten(const struct process_image *image, uint64_t time_ns)
{
	return image->is_over && image->ended_ns < time_ns && !image->number;
}

static bool is_known(const struct process_entry *process)
{
	return process->image || process->unwinding || process->is_changed;
}

/* Remove numbers of which nothing is known. */
static void forget_numbers(struct process_table *table)
{
	struct word_map by_pid = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < table->processes.count; i++)
		count += is_known(&table->processes.items[i]);
	if (table->processes.count < NUMBERS_KEPT || count > table->processes.count / 2 ||
	    !word_map_reserve(&by_pid, count + 1))
		return;
	count = 0;
	for (size_t i = 0; i < table->processes.count; i++) {
		const struct process_entry process = table->processes.items[i];

		if (!is_known(&process))
			continue;
		/* There is room. */
		*word_map_at(&by_pid, (struct words){ { process.pid } }) = (uint32_t)count;
		table->processes.items[count++] = process;
	}
	table->processes.count = count;
	word_map_deinit(&table->by_pid);
	table->by_pid = by_pid;
}

void process_table_forget(struct process_table *table, uint64_t time_ns)
{
	for (size_t i = 0; i < table->processes.count; i++)
		for (struct process_image **place = &table->processes.items[i].image, *image;
		     (image = *place);) {
			if (is_forgotten(image, time_ns)) {
				*place = image->before;
				process_table_destroy_image(table, image);
			} else {
				place = &image->before;
			}
		}
	forget_numbers(table);
}

void process_table_trim(struct process_table *table)
{
	const struct image_memory *memory = &table->memory;
	const size_t step = memory->max / 16, before = table->count;
	uint64_t first = UINT64_MAX, last = 0;

	if (memory->used < memory->max / 2 || memory->used - step < table->trimmed)
		return;
	for (size_t i = 0; i < table->processes.count; i++)
		for (const struct process_image *image = table->processes.items[i].image; image;
		     image = image->before) {
			if (!image->is_over || image->number)
				continue;
			first = image->ended_ns < first ? image->ended_ns : first;
			last = image->ended_ns > last ? image->ended_ns : last;
		}
	if (first <= last)
		process_table_forget(table, first + (last - first) / 2 + 1);
	table->lost += before - table->count;
	table->trimmed = memory->used;
}
