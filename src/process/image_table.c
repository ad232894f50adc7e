/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/image_table.h"

#include "process/address_space.h"

/* Do not charge small spaces: looking up the user of every new process costs more. Programs with
 * 100 libraries have 8 KiB. */
#define FREE_BYTES ((size_t)16 << 10)

/* Below this many process numbers none are removed. */
#define NUMBERS_KEPT 4096

struct image {
	uint32_t pid;
	struct image *before; /* the one that the number had before */
	uint64_t begun_ns;    /* 0: before anybody looked */
	const struct name *exe;
	/* All that it ever had, for names; NULL: nothing is known. What is there: `now`, which is
	 * the same where that is NULL. */
	struct address_space *space, *now;
	uint64_t exec_pages; /* as struct image_now has it */
	bool is_marked;
	bool is_over;     /* at `ended_ns`: it ended, or got a successor */
	bool is_stranger; /* none that was asked for, with a number of one that was */
	uint64_t ended_ns;
	uint32_t number; /* in this round; 0: not found */
	uint32_t share;  /* that it counts for, once `has_share` */
	bool has_share;
};

struct latest {
	struct image *image; /* may be NULL */
	uint32_t pid;
	bool is_changed;
};

struct image_table {
	bool only_begun;
	size_t max_memory, used; /* `used` without names */
	size_t count;
	uint64_t lost;
	struct user_shares shares;
	size_t trimmed; /* what was used when old images were forgotten the last time */
	uint32_t round; /* of putting, counted from 1 */
	struct arena arena;
	struct names names;
	struct word_map by_pid; /* in `latest` */
	struct {
		ARRAY(struct latest);
	} latest; /* of each process number */
	struct {
		ARRAY(uint32_t);
	} changed;                   /* places in `latest` */
	size_t changed_before;       /* of these, how many were told of */
	struct address_space *fresh; /* what is being read */
	struct {
		ARRAY(struct image *);
	} found; /* by their numbers */
};

struct error *image_table_create(bool only_begun, size_t max_memory, struct image_table **ret)
{
	struct image_table *table = calloc(1, sizeof(*table));

	if (!table)
		return &error_no_memory;
	*table = (struct image_table){
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

void image_table_limit_users(struct image_table *table, share_user_of *user_of)
{
	table->shares.user_of = user_of;
}

/* --- memory --- */

static bool has_room(const struct image_table *table, size_t bytes)
{
	size_t used = table->used + table->arena.used;

	return used <= table->max_memory && bytes <= table->max_memory - used;
}

/* Each space counts once, whoever shares it. */
static void drop_space(struct image_table *table, struct address_space *space)
{
	if (space && space->users == 1) {
		table->used -= address_space_bytes(space);
		user_shares_give_back(&table->shares, space->payer, space->paid);
	}
	address_space_release(space);
}

static uint32_t share_of(struct image_table *table, struct image *image)
{
	if (!image->has_share) {
		image->share = user_shares_of(&table->shares, image->pid);
		image->has_share = true;
	}
	return image->share;
}

/* A space that has grown. */
static void settle(struct image_table *table, struct image *image, struct address_space *space)
{
	const size_t bytes = address_space_bytes(space);

	if (bytes <= FREE_BYTES || bytes == space->paid)
		return;
	user_shares_give_back(&table->shares, space->payer, space->paid);
	space->payer = share_of(table, image);
	space->paid = bytes;
	user_shares_take(&table->shares, space->payer, bytes);
}

static bool may_grow(struct image_table *table, struct image *image,
		     const struct address_space *space)
{
	return address_space_bytes(space) <= FREE_BYTES ||
	       user_shares_have(&table->shares, share_of(table, image), 1);
}

static void destroy_image(struct image_table *table, struct image *image)
{
	drop_space(table, image->space);
	drop_space(table, image->now);
	table->used -= sizeof(*image);
	table->count--;
	free(image);
}

void image_table_destroy(struct image_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->latest.count; i++)
		for (struct image *image = table->latest.items[i].image, *before; image;
		     image = before) {
			before = image->before;
			destroy_image(table, image);
		}
	drop_space(table, table->fresh);
	user_shares_deinit(&table->shares);
	array_deinit(&table->latest);
	array_deinit(&table->changed);
	array_deinit(&table->found);
	word_map_deinit(&table->by_pid);
	names_deinit(&table->names);
	arena_deinit(&table->arena);
	free(table);
}

/* --- images --- */

static struct image *latest_of(const struct image_table *table, uint32_t pid)
{
	uint32_t place = word_map_find(&table->by_pid, (struct words){ { pid } });

	return place == WORD_MAP_NEW ? NULL : table->latest.items[place].image;
}

/* The place stays, so there are never more to tell of than there are numbers. */
static void tell_change(struct image_table *table, uint32_t pid)
{
	uint32_t place = word_map_find(&table->by_pid, (struct words){ { pid } });
	struct latest *latest = place == WORD_MAP_NEW ? NULL : &table->latest.items[place];

	if (!latest || latest->is_changed)
		return;
	latest->is_changed = array_push(&table->changed, place);
	table->lost += !latest->is_changed;
}

/* Where the latest image of that number is, or will be; NULL without memory. */
static struct image **place_of(struct image_table *table, uint32_t pid)
{
	uint32_t *place;

	/* First, so that no number without a place stays behind. */
	if (!array_reserve(&table->latest, 1))
		return NULL;
	place = word_map_at(&table->by_pid, (struct words){ { pid } });
	if (!place)
		return NULL;
	if (*place == WORD_MAP_NEW) {
		*place = (uint32_t)table->latest.count;
		table->latest.items[table->latest.count++] = (struct latest){ .pid = pid };
	}
	return &table->latest.items[*place].image;
}

static void end_image(struct image *image, uint64_t time_ns)
{
	if (image && !image->is_over) {
		image->is_over = true;
		image->ended_ns = time_ns;
	}
}

/* When processes that ended have taken a half of the memory, the older ones of them are forgotten,
 * so that those who start later find room. */
static void trim(struct image_table *table)
{
	const size_t step = table->max_memory / 16, before = table->count;
	uint64_t first = UINT64_MAX, last = 0;

	if (table->used < table->max_memory / 2 || table->used - step < table->trimmed)
		return;
	for (size_t i = 0; i < table->latest.count; i++)
		for (const struct image *image = table->latest.items[i].image; image;
		     image = image->before) {
			if (!image->is_over || image->number)
				continue;
			first = image->ended_ns < first ? image->ended_ns : first;
			last = image->ended_ns > last ? image->ended_ns : last;
		}
	if (first <= last)
		image_table_forget(table, first + (last - first) / 2 + 1);
	table->lost += before - table->count;
	table->trimmed = table->used;
}

/* A new image of that number. NULL: lost. */
static struct image *add_image(struct image_table *table, uint32_t pid, uint64_t time_ns,
			       bool is_exec)
{
	struct image **place = has_room(table, sizeof(struct image)) ? place_of(table, pid) : NULL;
	struct image *image = place ? calloc(1, sizeof(*image)) : NULL;

	if (!image) {
		table->lost++;
		/* What was there before is over all the same. */
		end_image(latest_of(table, pid), time_ns);
		return NULL;
	}
	end_image(*place, time_ns);
	*image = (struct image){ .pid = pid, .before = *place, .begun_ns = time_ns };
	/* What executes something else is still the process that was marked. */
	image->is_marked = *place && (*place)->is_marked && is_exec;
	table->used += sizeof(*image);
	table->count++;
	*place = image;
	return image;
}

void image_table_begin(struct image_table *table, uint32_t pid, uint64_t time_ns, struct text exe)
{
	struct image *image;

	trim(table);
	image = latest_of(table, pid);
	if (!image || image->is_over)
		image = add_image(table, pid, time_ns, false);
	if (image && !image->exe && exe.length)
		image->exe = names_intern(&table->names, exe.bytes, exe.length);
}

/* --- what happens --- */

/* Is it to be followed? NULL is a process that nothing was said about yet. */
static bool is_wanted(const struct image_table *table, const struct image *image)
{
	return image ? !image->is_stranger : !table->only_begun;
}

/* A name stays, also when no mapping has it any more, so it counts for whoever brought it. NULL:
 * there is no room. */
static const struct name *path_of(struct image_table *table, struct image *image, struct text path)
{
	const struct name *known = names_find(&table->names, path.bytes, path.length);
	const size_t bytes = sizeof(*known) + path.length + 1;

	if (known)
		return known;
	if (!user_shares_have(&table->shares, share_of(table, image), bytes))
		return NULL;
	known = names_intern(&table->names, path.bytes, path.length);
	if (known)
		user_shares_take(&table->shares, image->share, bytes);
	return known;
}

static bool make_mapping(struct image_table *table, struct image *image,
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
		.path = path_of(table, image, record->path),
	};
	if (record->build_id.length > sizeof(ret->build_id))
		return false;
	if (record->build_id.length)
		memcpy(ret->build_id, record->build_id.bytes, record->build_id.length);
	return ret->path;
}

/* The program of an image is what is mapped first after its exec. */
static void take_exe(struct image *image, const struct profile_mapping *mapping)
{
	if (!image->exe && mapping->path->length && mapping->path->bytes[0] == '/')
		image->exe = mapping->path;
}

static bool own_space(struct image_table *table, struct address_space **space)
{
	if (!*space) {
		*space = address_space_create();
		table->used += *space ? address_space_bytes(*space) : 0;
	}
	return *space;
}

static bool put_into(struct image_table *table, struct image *image, struct address_space **ret,
		     const struct profile_mapping *mapping)
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
	/* A copy leaves the other as it was, to those who still share it. */
	table->used += address_space_bytes(*ret);
	table->used -= *ret == space ? bytes : 0;
	settle(table, image, *ret);
	return true;
}

static const struct address_space *now_of(const struct image *image)
{
	return image->now ? image->now : image->space;
}

static bool put_mapping(struct image_table *table, struct image *image,
			const struct perf_record *record)
{
	const struct address_space *now = now_of(image);
	struct profile_mapping mapping;

	if (!make_mapping(table, image, record, &mapping))
		return false;
	take_exe(image, &mapping);
	if (now && address_space_has(now, &mapping))
		return true;
	image->exec_pages = 0;
	tell_change(table, image->pid);
	return put_into(table, image, &image->space, &mapping) &&
	       (!image->now || put_into(table, image, &image->now, &mapping));
}

static void take_mapping(struct image_table *table, const struct perf_record *record)
{
	struct image *image = latest_of(table, record->pid);

	if (!is_wanted(table, image))
		return;
	/* Its begin was lost, or was before anybody looked. */
	if (!image)
		image = add_image(table, record->pid, 0, false);
	if (image && !put_mapping(table, image, record))
		table->lost++;
}

static void take_exec(struct image_table *table, const struct perf_record *record)
{
	if (is_wanted(table, latest_of(table, record->pid)))
		add_image(table, record->pid, record->time_ns, true);
	tell_change(table, record->pid);
}

static void take_fork(struct image_table *table, const struct perf_record *record)
{
	struct image *parent = latest_of(table, record->parent), *image;
	const bool wanted = is_wanted(table, parent);

	/* Nothing is known of it, but perhaps of one that had the number before. */
	if ((!wanted || !parent || !parent->space) && !latest_of(table, record->pid))
		return;
	image = add_image(table, record->pid, record->time_ns, false);
	tell_change(table, record->pid);
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
	/* It is the same user's, and may be gone when somebody asks. */
	image->share = parent->share;
	image->has_share = parent->has_share;
}

void image_table_take(struct image_table *table, const struct perf_record *record)
{
	/* Processes that our PID namespace does not have are 0, and those that are on their way out
	 * may be -1. */
	if (record->kind != PERF_RECORD_OF_LOSS &&
	    (!record->pid || record->pid > (uint32_t)INT32_MAX))
		return;
	trim(table);
	switch (record->kind) {
	case PERF_RECORD_OF_MAPPING:
		take_mapping(table, record);
		break;
	case PERF_RECORD_OF_EXEC:
		take_exec(table, record);
		break;
	case PERF_RECORD_OF_FORK:
		take_fork(table, record);
		break;
	case PERF_RECORD_OF_EXIT:
		end_image(latest_of(table, record->pid), record->time_ns);
		tell_change(table, record->pid);
		break;
	case PERF_RECORD_OF_LOSS:
		table->lost += record->lost;
		break;
	case PERF_RECORD_OF_OTHERS:
		break;
	}
}

uint64_t image_table_lost(const struct image_table *table)
{
	return table->lost;
}

size_t image_table_count(const struct image_table *table)
{
	return table->count;
}

/* --- what is there now --- */

bool image_table_changed(struct image_table *table, uint32_t *ret_pid)
{
	struct latest *latest;

	if (table->changed_before == table->changed.count) {
		table->changed_before = table->changed.count = 0;
		return false;
	}
	latest = &table->latest.items[table->changed.items[table->changed_before++]];
	latest->is_changed = false;
	*ret_pid = latest->pid;
	return true;
}

void image_table_tell(struct image_table *table, uint32_t pid)
{
	tell_change(table, pid);
}

bool image_table_now(const struct image_table *table, uint32_t pid, struct image_now *ret)
{
	const struct image *image = latest_of(table, pid);

	if (!image || image->is_stranger)
		return false;
	*ret = (struct image_now){
		.space = now_of(image),
		.exec_pages = image->exec_pages,
		.begun_ns = image->begun_ns,
		.is_over = image->is_over,
		.is_marked = image->is_marked,
	};
	return true;
}

void image_table_mark(struct image_table *table, uint32_t pid)
{
	struct image *image = latest_of(table, pid);

	if (image)
		image->is_marked = true;
}

bool image_table_read_begin(struct image_table *table)
{
	drop_space(table, table->fresh);
	table->fresh = NULL;
	return own_space(table, &table->fresh);
}

void image_table_read_mapping(struct image_table *table, const struct perf_record *record)
{
	struct image *image = latest_of(table, record->pid);
	struct profile_mapping mapping;

	if (!image || !is_wanted(table, image))
		return;
	if (!make_mapping(table, image, record, &mapping) ||
	    !put_into(table, image, &image->space, &mapping) ||
	    !put_into(table, image, &table->fresh, &mapping))
		table->lost++;
	else
		take_exe(image, &mapping);
}

void image_table_read_end(struct image_table *table, uint32_t pid, uint64_t exec_pages)
{
	struct image *image = latest_of(table, pid);

	if (image && is_wanted(table, image)) {
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

uint32_t image_table_find(struct image_table *table, uint32_t pid, uint64_t time_ns)
{
	struct image *image = latest_of(table, pid);

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
static bool copy_name(struct profile *profile, const struct name *name, const struct name **ret)
{
	*ret = name ? profile_name(profile, name->bytes, name->length) : NULL;
	return !name || *ret;
}

/* Processes that share a space share its mappings there, too. */
static bool put_space(const struct image_table *table, struct address_space *space,
		      struct profile *profile)
{
	if (space->round == table->round)
		return true;
	if (profile->mappings.count > UINT32_MAX - space->count)
		return false;
	space->place = (uint32_t)profile->mappings.count;
	for (size_t i = 0; i < space->count; i++) {
		struct profile_mapping mapping = space->items[i];

		if (!copy_name(profile, mapping.path, &mapping.path) ||
		    !array_push(&profile->mappings, mapping))
			return false;
	}
	space->round = table->round;
	return true;
}

static bool put_image(const struct image_table *table, const struct image *image,
		      struct profile *profile)
{
	struct profile_image put = {
		.pid = image->pid,
		.mapping_count = (uint32_t)image->space->count,
		.is_over = image->is_over,
		.ended_ns = image->ended_ns,
	};

	if (!copy_name(profile, image->exe, &put.exe) || !put_space(table, image->space, profile))
		return false;
	put.first_mapping = image->space->place;
	return array_push(&profile->images, put);
}

struct error *image_table_put(struct image_table *table, struct profile *profile)
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

static bool is_forgotten(const struct image *image, uint64_t time_ns)
{
	return image->is_over && image->ended_ns < time_ns && !image->number;
}

/* Remove numbers whose images are all gone. Not while changes are waiting to be reported: these
 * refer to entries by their place. */
static void forget_numbers(struct image_table *table)
{
	struct word_map by_pid = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < table->latest.count; i++)
		count += table->latest.items[i].image != NULL;
	if (table->latest.count < NUMBERS_KEPT || count > table->latest.count / 2 ||
	    table->changed_before != table->changed.count || !word_map_reserve(&by_pid, count + 1))
		return;
	table->changed_before = table->changed.count = 0;
	count = 0;
	for (size_t i = 0; i < table->latest.count; i++) {
		const struct latest latest = table->latest.items[i];

		if (!latest.image)
			continue;
		/* There is room. */
		*word_map_at(&by_pid, (struct words){ { latest.pid } }) = (uint32_t)count;
		table->latest.items[count++] = latest;
	}
	table->latest.count = count;
	word_map_deinit(&table->by_pid);
	table->by_pid = by_pid;
}

void image_table_forget(struct image_table *table, uint64_t time_ns)
{
	for (size_t i = 0; i < table->latest.count; i++)
		for (struct image **place = &table->latest.items[i].image, *image;
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
