/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/process_table.h"

/* Do not charge small spaces: looking up the user of every new process costs more. Programs with
 * 100 libraries have 8 KiB. */
#define FREE_BYTES ((size_t)16 << 10)

/* Below this many process numbers none are removed. */
#define NUMBERS_KEPT 4096

struct process_table {
	bool only_begun;
	size_t max_memory, used; /* `used` without names */
	size_t count;
	uint64_t lost;
	struct user_shares shares;
	size_t trimmed; /* what was used when old images were forgotten the last time */
	uint32_t round; /* of putting, counted from 1 */
	struct arena arena;
	struct names names;
	struct word_map by_pid; /* to the index in `processes` */
	struct {
		ARRAY(struct process_entry);
	} processes;
	bool records_changes;
	struct {
		ARRAY(uint32_t);
	} changed;                   /* process numbers, each once from `next_changed` on */
	size_t next_changed;         /* those before it were returned */
	struct address_space *fresh; /* what is being read */
	struct {
		ARRAY(struct process_image *);
	} found; /* by number */
};

struct error *process_table_create(bool only_begun, size_t max_memory, struct process_table **ret)
{
	struct process_table *table = calloc(1, sizeof(*table));

	if (!table)
		return &error_no_memory;
	*table = (struct process_table){
		.only_begun = only_begun,
		.max_memory = max_memory,
		.round = 1,
	};
	user_shares_init(&table->shares, max_memory);
	arena_init(&table->arena, max_memory);
	names_init(&table->names, &table->arena);
	*ret = table;
	return NULL;
}

void process_table_limit_users(struct process_table *table, share_user_of *user_of)
{
	table->shares.user_of = user_of;
}

/* --- memory --- */

static bool has_room(const struct process_table *table, size_t bytes)
{
	size_t used = table->used + table->arena.used;

	return used <= table->max_memory && bytes <= table->max_memory - used;
}

/* Drop a reference. An address space counts once, however many images share it. */
static void drop_space(struct process_table *table, struct address_space *space)
{
	if (space && space->users == 1) {
		table->used -= address_space_bytes(space);
		user_shares_give_back(&table->shares, space->payer, space->paid);
	}
	address_space_release(space);
}

static uint32_t user_share_of(struct process_table *table, struct process_image *image)
{
	if (!image->has_share) {
		image->share = user_shares_of(&table->shares, image->pid);
		image->has_share = true;
	}
	return image->share;
}

/* A space that has grown. */
static void charge_space(struct process_table *table, struct process_image *image,
			 struct address_space *space)
{
	const size_t bytes = address_space_bytes(space);

	if (bytes <= FREE_BYTES || bytes == space->paid)
		return;
	user_shares_give_back(&table->shares, space->payer, space->paid);
	space->payer = user_share_of(table, image);
	space->paid = bytes;
	user_shares_take(&table->shares, space->payer, bytes);
}

static bool may_grow(struct process_table *table, struct process_image *image,
		     const struct address_space *space)
{
	return address_space_bytes(space) <= FREE_BYTES ||
	       user_shares_have(&table->shares, user_share_of(table, image), 1);
}

static void destroy_image(struct process_table *table, struct process_image *image)
{
	drop_space(table, image->space);
	drop_space(table, image->now);
	table->used -= sizeof(*image);
	table->count--;
	free(image);
}

void process_table_destroy(struct process_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->processes.count; i++)
		for (struct process_image *image = table->processes.items[i].image, *before; image;
		     image = before) {
			before = image->before;
			destroy_image(table, image);
		}
	drop_space(table, table->fresh);
	user_shares_deinit(&table->shares);
	array_deinit(&table->processes);
	array_deinit(&table->changed);
	array_deinit(&table->found);
	word_map_deinit(&table->by_pid);
	names_deinit(&table->names);
	arena_deinit(&table->arena);
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

static struct process_image *latest_of(const struct process_table *table, uint32_t pid)
{
	const struct process_entry *process = process_table_find(table, pid);

	return process ? process->image : NULL;
}

/* What was returned goes when it is half of the list, so the list stays short although there may
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

/* When processes that ended have taken a half of the memory, the older ones of them are forgotten,
 * so that those who start later find room. */
static void trim(struct process_table *table)
{
	const size_t step = table->max_memory / 16, before = table->count;
	uint64_t first = UINT64_MAX, last = 0;

	if (table->used < table->max_memory / 2 || table->used - step < table->trimmed)
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
	table->trimmed = table->used;
}

/* A new image of that number. NULL: lost. */
static struct process_image *add_image(struct process_table *table, uint32_t pid, uint64_t time_ns,
				       bool is_exec)
{
	struct process_entry *process =
		has_room(table, sizeof(struct process_image)) ? process_table_at(table, pid) : NULL;
	struct process_image *image = process ? calloc(1, sizeof(*image)) : NULL, *before;

	if (!image) {
		table->lost++;
		/* The previous image has ended in any case. */
		end_image(latest_of(table, pid), time_ns);
		return NULL;
	}
	before = process->image;
	end_image(before, time_ns);
	*image = (struct process_image){ .pid = pid, .before = before, .begun_ns = time_ns };
	/* The process stays marked when it executes another program. */
	image->is_marked = before && before->is_marked && is_exec;
	table->used += sizeof(*image);
	table->count++;
	process->image = image;
	return image;
}

void process_table_begin(struct process_table *table, uint32_t pid, uint64_t time_ns,
			 struct text exe)
{
	struct process_image *image;

	trim(table);
	image = latest_of(table, pid);
	if (!image || image->is_over)
		image = add_image(table, pid, time_ns, false);
	if (image && !image->exe && exe.length)
		image->exe = names_intern(&table->names, exe.bytes, exe.length);
}

/* --- what happens --- */

/* Is it to be followed? NULL is a process that nothing was said about yet. */
static bool is_image_wanted(const struct process_table *table, const struct process_image *image)
{
	return image ? !image->is_stranger : !table->only_begun;
}

/* Intern a path and charge its first user. Names are never freed. NULL: there is no room. */
static const struct name *intern_path(struct process_table *table, struct process_image *image,
				      struct text path)
{
	const struct name *known = names_find(&table->names, path.bytes, path.length);
	const size_t bytes = sizeof(*known) + path.length + 1;

	if (known)
		return known;
	if (!user_shares_have(&table->shares, user_share_of(table, image), bytes))
		return NULL;
	known = names_intern(&table->names, path.bytes, path.length);
	if (known)
		user_shares_take(&table->shares, image->share, bytes);
	return known;
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
		.path = intern_path(table, image, record->path),
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

static bool own_space(struct process_table *table, struct address_space **space)
{
	if (!*space) {
		*space = address_space_create();
		table->used += *space ? address_space_bytes(*space) : 0;
	}
	return *space;
}

static bool put_into(struct process_table *table, struct process_image *image,
		     struct address_space **ret, const struct profile_mapping *mapping)
{
	struct address_space *space;
	size_t bytes;

	if (!own_space(table, ret))
		return false;
	space = *ret;
	bytes = address_space_bytes(space);
	/* A copy of it, or half as much again. */
	if (!has_room(table, bytes + sizeof(*mapping) * 8) || !may_grow(table, image, space) ||
	    !address_space_put(ret, mapping))
		return false;
	/* Other images that share the space keep the old one. */
	table->used += address_space_bytes(*ret);
	table->used -= *ret == space ? bytes : 0;
	charge_space(table, image, *ret);
	return true;
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
	return put_into(table, image, &image->space, &mapping) &&
	       (!image->now || put_into(table, image, &image->now, &mapping));
}

static void add_record_mapping(struct process_table *table, const struct perf_record *record)
{
	struct process_image *image = latest_of(table, record->pid);

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
	if (is_image_wanted(table, latest_of(table, record->pid)))
		add_image(table, record->pid, record->time_ns, true);
	process_table_set_changed(table, record->pid);
}

static void take_fork(struct process_table *table, const struct perf_record *record)
{
	struct process_image *parent = latest_of(table, record->parent), *image;
	const bool wanted = is_image_wanted(table, parent);

	/* Nothing is known of it, but perhaps of one that had the number before. */
	if ((!wanted || !parent || !parent->space) && !latest_of(table, record->pid))
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
	image->share = parent->share;
	image->has_share = parent->has_share;
}

void process_table_apply(struct process_table *table, const struct perf_record *record)
{
	/* Processes that our PID namespace does not have are 0, and those that are on their way out
	 * may be -1. */
	if (record->kind != PERF_RECORD_OF_LOSS &&
	    (!record->pid || record->pid > (uint32_t)INT32_MAX))
		return;
	trim(table);
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
		end_image(latest_of(table, record->pid), record->time_ns);
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

size_t process_table_image_count(const struct process_table *table)
{
	return table->count;
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

const struct process_image *process_table_now(const struct process_table *table, uint32_t pid)
{
	const struct process_image *image = latest_of(table, pid);

	return image && !image->is_stranger ? image : NULL;
}

void process_table_mark(struct process_table *table, uint32_t pid)
{
	struct process_image *image = latest_of(table, pid);

	if (image)
		image->is_marked = true;
}

bool process_table_note_code(struct process_table *table, uint32_t pid)
{
	struct process_image *image = latest_of(table, pid);

	if (!image || image->is_stranger || image->is_over || image->has_noted_code)
		return false;
	return image->has_noted_code = true;
}

bool process_table_read_begin(struct process_table *table)
{
	drop_space(table, table->fresh);
	table->fresh = NULL;
	return own_space(table, &table->fresh);
}

void process_table_read_mapping(struct process_table *table, const struct perf_record *record)
{
	struct process_image *image = latest_of(table, record->pid);
	struct profile_mapping mapping;

	if (!image || !is_image_wanted(table, image))
		return;
	if (!make_mapping(table, image, record, &mapping) ||
	    !put_into(table, image, &image->space, &mapping) ||
	    !put_into(table, image, &table->fresh, &mapping))
		table->lost++;
	else
		take_exe(image, &mapping);
}

void process_table_read_end(struct process_table *table, uint32_t pid, uint64_t exec_pages)
{
	struct process_image *image = latest_of(table, pid);

	if (image && is_image_wanted(table, image)) {
		drop_space(table, image->now);
		image->now = NULL;
		if (image->space && !address_space_equal(image->space, table->fresh))
			image->now = address_space_share(table->fresh);
		image->exec_pages = exec_pages;
	}
	drop_space(table, table->fresh);
	table->fresh = NULL;
}

/* --- what was found --- */

uint32_t process_table_find_image(struct process_table *table, uint32_t pid, uint64_t time_ns)
{
	struct process_image *image = latest_of(table, pid);

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
				destroy_image(table, image);
			} else {
				place = &image->before;
			}
		}
	forget_numbers(table);
}
