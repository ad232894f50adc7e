/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The images of processes as they were: which one a process had at some time, adding those that
 * were found to a profile, and forgetting those that ended.
 */
#include "process/process_table_internal.h"

/* Below this many process numbers none are removed. */
#define NUMBERS_KEPT 4096

void process_table_destroy_image(struct process_table *table, struct process_image *image)
{
	image_memory_drop(&table->memory, image->space);
	image_memory_drop(&table->memory, image->now);
	table->memory.used -= sizeof(*image);
	table->count--;
	free(image);
}

/* --- finding --- */

/* The last image that had begun by that time. A process may have had very many. */
static struct process_image *image_at(const struct process_table *table, uint32_t pid,
				      uint64_t time_ns)
{
	const struct process_entry *process = process_table_find(table, pid);
	size_t low = 0, high = process ? process->images.count : 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (process->images.items[middle]->begun_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? process->images.items[low - 1] : NULL;
}

uint32_t process_table_find_image(struct process_table *table, uint32_t pid, uint64_t time_ns)
{
	struct process_image *image = image_at(table, pid, time_ns);

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
	return process->images.count || process->unwinding || process->is_changed;
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

/* Give back room of a process that has far fewer images than it had. */
static void shrink_images(struct process_table *table, struct process_entry *process)
{
	const size_t count = process->images.count, room = process->images.room;
	struct process_image **items;

	if (!count) {
		array_deinit(&process->images);
	} else if (room > 64 && count < room / 4) {
		items = reallocarray(process->images.items, count, sizeof(*items));
		if (!items)
			return;
		process->images.items = items;
		process->images.room = count;
	}
	table->memory.used -= (room - process->images.room) * sizeof(*items);
}

void process_table_forget(struct process_table *table, uint64_t time_ns)
{
	for (size_t i = 0; i < table->processes.count; i++) {
		struct process_entry *process = &table->processes.items[i];
		size_t kept = 0;

		for (size_t k = 0; k < process->images.count; k++) {
			struct process_image *image = process->images.items[k];

			if (is_forgotten(image, time_ns))
				process_table_destroy_image(table, image);
			else
				process->images.items[kept++] = image;
		}
		process->images.count = kept;
		shrink_images(table, process);
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
	for (size_t i = 0; i < table->processes.count; i++) {
		const struct process_entry *process = &table->processes.items[i];

		for (size_t k = 0; k < process->images.count; k++) {
			const struct process_image *image = process->images.items[k];

			if (!image->is_over || image->number)
				continue;
			first = image->ended_ns < first ? image->ended_ns : first;
			last = image->ended_ns > last ? image->ended_ns : last;
		}
	}
	if (first <= last)
		process_table_forget(table, first + (last - first) / 2 + 1);
	table->lost += before - table->count;
	table->trimmed = memory->used;
}
