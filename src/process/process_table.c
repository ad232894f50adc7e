/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/process_table_internal.h"

struct error *process_table_create(bool only_begun, size_t max_memory, struct process_table **ret)
{
	struct process_table *table = calloc(1, sizeof(*table));

	if (!table)
		return &error_no_memory;
	table->only_begun = only_begun;
	table->round = 1;
	image_memory_init(&table->memory, max_memory);
	*ret = table;
	return NULL;
}

void process_table_limit_users(struct process_table *table, share_user_of *user_of)
{
	table->memory.shares.user_of = user_of;
}

void process_table_destroy(struct process_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->processes.count; i++) {
		struct process_entry *process = &table->processes.items[i];

		for (size_t k = 0; k < process->images.count; k++)
			process_table_destroy_image(table, process->images.items[k]);
		array_deinit(&process->images);
	}
	image_memory_drop(&table->memory, table->fresh);
	array_deinit(&table->processes);
	array_deinit(&table->changed);
	array_deinit(&table->found);
	word_map_deinit(&table->by_pid);
	image_memory_deinit(&table->memory);
	free(table);
}

/* --- images --- */

struct process_entry *process_table_find(const struct process_table *table, uint32_t pid)
{
	uint32_t index = word_map_find(&table->by_pid, (struct words){ { pid } });

	return index == WORD_MAP_NEW ? NULL : &table->processes.items[index];
}

struct process_entry *process_table_at(struct process_table *table, uint32_t pid)
{
	uint32_t *index;

	/* First, so that no index without a process stays behind. */
	if (!array_reserve(&table->processes, 1))
		return NULL;
	index = word_map_at(&table->by_pid, (struct words){ { pid } });
	if (!index)
		return NULL;
	if (*index == WORD_MAP_NEW) {
		*index = (uint32_t)table->processes.count;
		table->processes.items[table->processes.count++] =
			(struct process_entry){ .pid = pid };
	}
	return &table->processes.items[*index];
}

size_t process_table_count(const struct process_table *table)
{
	return table->processes.count;
}

struct process_entry *process_table_entry(struct process_table *table, size_t i)
{
	return &table->processes.items[i];
}

/* Returned entries are removed once they are half of the list, so it stays short although there may
 * always be a process that waits. */
static void drop_returned(struct process_table *table)
{
	const size_t left = table->changed.count - table->next_changed;

	if (table->next_changed <= left)
		return;
	memmove(table->changed.items, table->changed.items + table->next_changed,
		left * sizeof(*table->changed.items));
	table->changed.count = left;
	table->next_changed = 0;
}

void process_table_record_changes(struct process_table *table)
{
	table->records_changes = true;
}

/* A process waits once, so no more of them wait than the table has. */
void process_table_set_changed(struct process_table *table, uint32_t pid)
{
	struct process_entry *process =
		table->records_changes ? process_table_find(table, pid) : NULL;

	if (!process || process->is_changed)
		return;
	drop_returned(table);
	process->is_changed = array_push(&table->changed, pid);
	table->lost += !process->is_changed;
}

static void end_image(struct process_image *image, uint64_t time_ns)
{
	if (image && !image->is_over) {
		image->is_over = true;
		image->ended_ns = time_ns;
	}
}

/* Room for one more image of the process, which counts as memory. */
static bool reserve_image(struct process_table *table, struct process_entry *process)
{
	const size_t before = process->images.room;

	if (!array_reserve(&process->images, 1))
		return false;
	table->memory.used += (process->images.room - before) * sizeof(*process->images.items);
	return true;
}

/* A new image of that number. NULL: lost. */
static struct process_image *add_image(struct process_table *table, uint32_t pid, uint64_t time_ns,
				       bool is_exec)
{
	struct process_image *before = process_table_latest(table, pid), *image = NULL;
	struct process_entry *process = NULL;

	/* It has ended in any case. */
	end_image(before, time_ns);
	if (image_memory_has_room(&table->memory, sizeof(*image)))
		process = process_table_at(table, pid);
	if (process && reserve_image(table, process))
		image = calloc(1, sizeof(*image));
	if (!image) {
		table->lost++;
		return NULL;
	}
	*image = (struct process_image){
		.pid = pid,
		.payer = { .pid = pid },
		.begun_ns = before && before->begun_ns > time_ns ? before->begun_ns : time_ns,
	};
	/* The process stays marked when it executes another program. */
	image->is_marked = before && before->is_marked && is_exec;
	table->memory.used += sizeof(*image);
	table->count++;
	process->images.items[process->images.count++] = image;
	return image;
}

void process_table_begin(struct process_table *table, uint32_t pid, uint64_t time_ns,
			 struct text exe)
{
	struct process_image *image;

	process_table_trim(table);
	image = process_table_latest(table, pid);
	if (!image || image->is_over)
		image = add_image(table, pid, time_ns, false);
	if (image && !image->exe && exe.length)
		image->exe = image_memory_name(&table->memory, &image->payer, exe);
}

/* --- what happens --- */

/* Is the process tracked? NULL is a process without events so far. */
static bool is_image_wanted(const struct process_table *table, const struct process_image *image)
{
	return image ? !image->is_stranger : !table->only_begun;
}

static bool make_mapping(struct process_table *table, struct process_image *image,
			 const struct perf_record *record, struct profile_mapping *ret)
{
	*ret = (struct profile_mapping){
		.start = record->start,
		.end = record->end,
		.file_offset = record->file_offset,
		.major = record->major,
		.minor = record->minor,
		.inode = record->inode,
		.build_id_length = (uint8_t)record->build_id.length,
		.path = image_memory_name(&table->memory, &image->payer, record->path),
	};
	if (record->build_id.length > sizeof(ret->build_id))
		return false;
	if (record->build_id.length)
		memcpy(ret->build_id, record->build_id.bytes, record->build_id.length);
	return ret->path;
}

/* The program of an image is what is mapped first after its exec. */
static void take_exe(struct process_image *image, const struct profile_mapping *mapping)
{
	if (!image->exe && mapping->path->length && mapping->path->bytes[0] == '/')
		image->exe = mapping->path;
}

static bool put_mapping(struct process_table *table, struct process_image *image,
			const struct perf_record *record)
{
	const struct address_space *now = process_image_now(image);
	struct profile_mapping mapping;

	if (!make_mapping(table, image, record, &mapping))
		return false;
	take_exe(image, &mapping);
	if (now && address_space_has(now, &mapping))
		return true;
	image->exec_pages = 0;
	process_table_set_changed(table, image->pid);
	return image_memory_put(&table->memory, &image->payer, &image->space, &mapping) &&
	       (!image->now ||
		image_memory_put(&table->memory, &image->payer, &image->now, &mapping));
}

static void add_record_mapping(struct process_table *table, const struct perf_record *record)
{
	struct process_image *image = process_table_latest(table, record->pid);

	if (!is_image_wanted(table, image))
		return;
	/* The start of the process was lost, or was before the table was opened. */
	if (!image)
		image = add_image(table, record->pid, 0, false);
	if (image && !put_mapping(table, image, record))
		table->lost++;
}

static void take_exec(struct process_table *table, const struct perf_record *record)
{
	if (is_image_wanted(table, process_table_latest(table, record->pid)))
		add_image(table, record->pid, record->time_ns, true);
	process_table_set_changed(table, record->pid);
}

static void take_fork(struct process_table *table, const struct perf_record *record)
{
	struct process_image *parent = process_table_latest(table, record->parent), *image;
	const bool wanted = is_image_wanted(table, parent);

	/* The process is unknown, but an earlier one may have had its number. */
	if ((!wanted || !parent || !parent->space) && !process_table_latest(table, record->pid))
		return;
	image = add_image(table, record->pid, record->time_ns, false);
	process_table_set_changed(table, record->pid);
	if (!image)
		return;
	image->is_stranger = !wanted;
	if (!wanted || !parent)
		return;
	image->exe = parent->exe;
	image->space = address_space_share(parent->space);
	image->now = address_space_share(parent->now);
	image->exec_pages = parent->exec_pages;
	image->is_marked = parent->is_marked;
	/* The child has the same user, and may be gone by the time the user is looked up. */
	image->payer.share = parent->payer.share;
	image->payer.is_known = parent->payer.is_known;
}

void process_table_apply(struct process_table *table, const struct perf_record *record)
{
	/* Processes that our PID namespace does not have are 0, and those that are on their way out
	 * may be -1. */
	if (record->kind != PERF_RECORD_OF_LOSS &&
	    (!record->pid || record->pid > (uint32_t)INT32_MAX))
		return;
	process_table_trim(table);
	switch (record->kind) {
	case PERF_RECORD_OF_MAPPING:
		add_record_mapping(table, record);
		break;
	case PERF_RECORD_OF_EXEC:
		take_exec(table, record);
		break;
	case PERF_RECORD_OF_FORK:
		take_fork(table, record);
		break;
	case PERF_RECORD_OF_EXIT:
		end_image(process_table_latest(table, record->pid), record->time_ns);
		process_table_set_changed(table, record->pid);
		break;
	case PERF_RECORD_OF_LOSS:
		table->lost += record->lost;
		break;
	case PERF_RECORD_OF_OTHERS:
		break;
	}
}

uint64_t process_table_lost(const struct process_table *table)
{
	return table->lost;
}

/* --- processes as they are now --- */

bool process_table_next_changed(struct process_table *table, uint32_t *ret_pid)
{
	struct process_entry *process;

	if (table->next_changed == table->changed.count) {
		table->next_changed = table->changed.count = 0;
		return false;
	}
	/* Entries that wait stay in the table. */
	process = process_table_find(table, table->changed.items[table->next_changed++]);
	process->is_changed = false;
	*ret_pid = process->pid;
	return true;
}

bool process_table_has_changed(const struct process_table *table)
{
	return table->next_changed != table->changed.count;
}

const struct process_image *process_table_now(const struct process_table *table, uint32_t pid)
{
	const struct process_image *image = process_table_latest(table, pid);

	return image && !image->is_stranger ? image : NULL;
}

void process_table_mark(struct process_table *table, uint32_t pid)
{
	struct process_image *image = process_table_latest(table, pid);

	if (image)
		image->is_marked = true;
}

bool process_table_note_code(struct process_table *table, uint32_t pid)
{
	struct process_image *image = process_table_latest(table, pid);

	if (!image || image->is_stranger || image->is_over || image->has_noted_code)
		return false;
	return image->has_noted_code = true;
}

bool process_table_read_begin(struct process_table *table)
{
	image_memory_drop(&table->memory, table->fresh);
	table->fresh = NULL;
	return image_memory_create_space(&table->memory, &table->fresh);
}

void process_table_read_mapping(struct process_table *table, const struct perf_record *record)
{
	struct process_image *image = process_table_latest(table, record->pid);
	struct profile_mapping mapping;

	if (!image || !is_image_wanted(table, image))
		return;
	if (!make_mapping(table, image, record, &mapping) ||
	    !image_memory_put(&table->memory, &image->payer, &image->space, &mapping) ||
	    !image_memory_put(&table->memory, &image->payer, &table->fresh, &mapping))
		table->lost++;
	else
		take_exe(image, &mapping);
}

void process_table_read_end(struct process_table *table, uint32_t pid, uint64_t exec_pages)
{
	struct process_image *image = process_table_latest(table, pid);

	if (image && is_image_wanted(table, image)) {
		image_memory_drop(&table->memory, image->now);
		image->now = NULL;
		if (image->space && !address_space_equal(image->space, table->fresh))
			image->now = address_space_share(table->fresh);
		image->exec_pages = exec_pages;
	}
	image_memory_drop(&table->memory, table->fresh);
	table->fresh = NULL;
}
