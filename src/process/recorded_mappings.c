/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/recorded_mappings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "base/clock.h"
#include "base/guard.h"

/* A walk takes some microseconds, but the walker may be preempted for a while. */
#define WALKED_NS (2 * NS_PER_S)

_Static_assert(RECORDED_SLOTS *RECORDED_WORDS <= UNWIND_CHUNK, "slots are put down together");

/* Files are forgotten no more often. */
#define FORGET_NS (10 * NS_PER_S)

/* Requests that wait for a table; further ones are dropped, and come again with the next process
 * that maps the file. */
#define WAITING_MAX 256

/* How many requests of one process may wait. */
#define WAITING_PROCESS_MAX 32

/* How long the mapping of a request may not be in the process table yet, and how long a request
 * waits for a table. */
#define MAPPING_LATE_NS (NS_PER_S / 5)
#define TABLE_LATE_NS   (20 * NS_PER_S)

struct waiting_request {
	struct mapping_request request;
	struct words identity;
	bool is_identified;
	uint64_t since_ns;
};

struct used_slot {
	uint32_t slot;
	uint64_t since_ns;
};

struct forgotten_table {
	struct cached_table *table;
	uint64_t since_ns;
};

struct recorded_mappings {
	struct recorded_mappings_options options;
	uint32_t slots; /* location of the first one */
	struct ring_buffer *ring;
	struct {
		ARRAY(struct waiting_request);
	} waiting;
	struct {
		ARRAY(struct used_slot);
	} walked; /* the one that has waited longest first */
	struct {
		ARRAY(struct file_part);
	} files; /* in the map of known files */
	struct {
		ARRAY(struct cached_table *);
	} tables; /* of them, used */
	struct {
		ARRAY(struct forgotten_table);
	} forgotten;
	size_t no_room; /* of the table cache, when files were last forgotten */
	uint64_t forgotten_ns;
};

/* --- slots --- */

static void free_slot(const struct recorded_mappings *recorded, uint32_t slot)
{
	/* The queue has room for all slots. */
	bpf_map_update_elem(recorded->options.slots, NULL, &slot, BPF_ANY);
}

void recorded_mappings_give_back(struct recorded_mappings *recorded, uint32_t slot, uint64_t now_ns)
{
	/* Without memory there is one slot less. */
	(void)array_push(&recorded->walked, ((struct used_slot){ slot, now_ns }));
}

static bool is_walked_slot_due(const struct recorded_mappings *recorded, size_t i, uint64_t now_ns)
{
	return i < recorded->walked.count &&
	       now_ns - recorded->walked.items[i].since_ns > RECORDED_KEPT_NS;
}

static void free_walked_slots(struct recorded_mappings *recorded, uint64_t now_ns)
{
	size_t count = 0;

	while (is_walked_slot_due(recorded, count, now_ns))
		free_slot(recorded, recorded->walked.items[count++].slot);
	if (count)
		array_drop_first(&recorded->walked, count);
}

bool recorded_mappings_has(const struct recorded_mappings *recorded,
			   const struct unwind_process *entry)
{
	return recorded && entry->slot && entry->count &&
	       entry->epoch == recorded->options.recording->epoch;
}

/* --- known files --- */

static bool add_known(struct recorded_mappings *recorded, const struct file_part *part,
		      const struct known_file *known, struct cached_table *table)
{
	if (!array_reserve(&recorded->files, 1) || !array_reserve(&recorded->tables, 1))
		return false;
	if (bpf_map_update_elem(recorded->options.files, part, known, BPF_NOEXIST))
		return errno == EEXIST;
	array_push(&recorded->files, *part);
	__atomic_add_fetch(&recorded->options.recording->files, 1, __ATOMIC_SEQ_CST);
	if (table) {
		array_push(&recorded->tables, table);
		unwind_table_cache_use(recorded->options.tables, table);
	}
	return true;
}

static void forget_files(struct recorded_mappings *recorded, uint64_t now_ns)
{
	if (!array_reserve(&recorded->forgotten, recorded->tables.count))
		return;
	for (size_t i = 0; i < recorded->files.count; i++)
		bpf_map_delete_elem(recorded->options.files, &recorded->files.items[i]);
	recorded->files.count = 0;
	for (size_t i = 0; i < recorded->tables.count; i++)
		recorded->tables.items[i]->known_bytes = 0;
	/* A slot that was begun meanwhile is of this epoch. */
	__atomic_add_fetch(&recorded->options.recording->epoch, 1, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < recorded->tables.count; i++)
		array_push(&recorded->forgotten,
			   ((struct forgotten_table){ recorded->tables.items[i], now_ns }));
	recorded->tables.count = 0;
	recorded->forgotten_ns = now_ns;
}

static void release_forgotten(struct recorded_mappings *recorded, uint64_t now_ns)
{
	size_t count = 0;

	while (count < recorded->forgotten.count &&
	       now_ns - recorded->forgotten.items[count].since_ns > WALKED_NS)
		unwind_table_cache_release(recorded->options.tables,
					   recorded->forgotten.items[count++].table);
	if (count)
		array_drop_first(&recorded->forgotten, count);
}

static void forget_if_room_is_short(struct recorded_mappings *recorded, uint64_t now_ns)
{
	const size_t no_room = unwind_table_cache_usage(recorded->options.tables).no_room;

	if ((no_room == recorded->no_room && recorded->files.count < KNOWN_FILES_MAX) ||
	    now_ns - recorded->forgotten_ns < FORGET_NS)
		return;
	recorded->no_room = no_room;
	forget_files(recorded, now_ns);
}

/* --- requests --- */

static int take_request(void *context, void *data, size_t size)
{
	struct recorded_mappings *recorded = context;
	const struct mapping_request *request = data;
	size_t of_process = 0;

	if (size < sizeof(*request))
		return 0;
	for (size_t i = 0; i < recorded->waiting.count; i++) {
		const struct mapping_request *there = &recorded->waiting.items[i].request;

		if (!memcmp(&there->part, &request->part, sizeof(request->part)))
			return 0;
		of_process += there->pid == request->pid;
	}
	if (recorded->waiting.count < WAITING_MAX && of_process < WAITING_PROCESS_MAX &&
	    array_reserve(&recorded->waiting, 1))
		array_push(&recorded->waiting, ((struct waiting_request){
						       .request = *request,
						       .since_ns = clock_ns(CLOCK_MONOTONIC),
					       }));
	return 0;
}

static const struct profile_mapping *find_in_image(const struct process_image *image,
						   const struct mapping_request *request)
{
	const struct address_space *space = process_image_now(image);
	const struct profile_mapping *mapping =
		space ? address_space_at(space, request->start) : NULL;

	return mapping && mapping->end - mapping->start == request->part.bytes &&
			       (request->part.is_vdso ||
				mapping->file_offset == request->part.offset)
		       ? mapping
		       : NULL;
}

/* The process may have executed another program since. */
static const struct profile_mapping *find_mapping(const struct process_table *processes,
						  const struct mapping_request *request)
{
	const struct process_entry *process = process_table_find(processes, request->pid);
	const struct profile_mapping *found = NULL;

	for (size_t i = process ? process->images.count : 0; i && !found; i--)
		found = find_in_image(process->images.items[i - 1], request);
	return found;
}

enum answer { ANSWER_LATER, ANSWER_NONE, ANSWER_KNOWN };

/* A file that shows other numbers than its inode has is left to user space. */
static bool identify(struct recorded_mappings *recorded, struct waiting_request *waiting,
		     const struct profile_mapping *mapping)
{
	const struct file_part *part = &waiting->request.part;
	const uint32_t pid = waiting->request.pid;
	struct file_inode inode = {
		.number = part->inode,
		.changed_ns = part->changed_ns,
		.device = part->device,
	};
	enum file_likeness likeness;

	if ((mapped_kind(mapping) == MAPPED_VDSO) != part->is_vdso)
		return false;
	if (part->is_vdso)
		return mapped_file_identify(pid, mapping, &waiting->identity);
	if (mapped_kind(mapping) != MAPPED_FILE)
		return false;
	likeness = mapped_file_identify_inode(pid, mapping, &inode, &waiting->identity);
	if (likeness == FILE_OTHER)
		add_known(recorded, part, &(struct known_file){ .kind = UNWIND_MAPPINGS }, NULL);
	return likeness == FILE_SAME;
}

/* Describe the part of a file that a mapping shows, for walks. False: its table is not there, or
 * the mapping shows no part that is loaded. */
static bool describe_file(const struct cached_table *table, const struct profile_mapping *mapping,
			  struct known_file *ret)
{
	uint64_t bias;

	*ret = (struct known_file){ .kind = UNWIND_MAPPING_POINTER };
	if (table->state == CACHED_TABLE_NO_CFI)
		return true;
	if (table->state != CACHED_TABLE_READY ||
	    !file_bias(table->segments.items, table->segments.count,
		       (uint64_t)sysconf(_SC_PAGESIZE), mapping, &bias))
		return false;
	ret->kind = UNWIND_MAPPING_TABLE;
	ret->table = table->location;
	ret->relative = bias + table->base - mapping->start;
	return true;
}

void recorded_mappings_learn(struct recorded_mappings *recorded,
			     const struct profile_mapping *mapping, struct cached_table *table)
{
	const bool is_vdso = mapped_kind(mapping) == MAPPED_VDSO;
	const struct file_part part = {
		.inode = table->inode.number,
		.changed_ns = table->inode.changed_ns,
		.offset = is_vdso ? 0 : mapping->file_offset,
		.bytes = mapping->end - mapping->start,
		.device = table->inode.device,
		.is_vdso = is_vdso,
	};
	struct known_file known;

	if (!recorded || (!is_vdso && !table->inode.number) ||
	    (table->known_bytes == part.bytes && table->known_offset == part.offset) ||
	    !describe_file(table, mapping, &known) || !add_known(recorded, &part, &known, table))
		return;
	table->known_bytes = part.bytes;
	table->known_offset = part.offset;
}

static bool is_of_inode(const struct cached_table *table, const struct file_part *part)
{
	return table->inode.number == part->inode && table->inode.device == part->device &&
	       table->inode.changed_ns == part->changed_ns;
}

static enum answer give_table(struct recorded_mappings *recorded, struct waiting_request *waiting,
			      const struct profile_mapping *mapping)
{
	struct cached_table *table = unwind_table_cache_find(
		recorded->options.tables, waiting->request.pid, mapping, &waiting->identity);
	const struct file_part *part = &waiting->request.part;
	struct known_file known;

	if (table && table->state == CACHED_TABLE_PENDING)
		return ANSWER_LATER;
	/* The build-id of the mapping is only what its process claims. */
	if (!table || (!part->is_vdso && !is_of_inode(table, part)) ||
	    !describe_file(table, mapping, &known) ||
	    !add_known(recorded, &waiting->request.part, &known, table))
		return ANSWER_NONE;
	return ANSWER_KNOWN;
}

static enum answer answer(struct recorded_mappings *recorded, struct waiting_request *waiting,
			  const struct process_table *processes, uint64_t now_ns)
{
	const struct profile_mapping *mapping = find_mapping(processes, &waiting->request);
	enum answer given;

	if (!mapping)
		return now_ns - waiting->since_ns < MAPPING_LATE_NS ? ANSWER_LATER : ANSWER_NONE;
	waiting->is_identified = waiting->is_identified || identify(recorded, waiting, mapping);
	if (!waiting->is_identified)
		return ANSWER_NONE;
	given = give_table(recorded, waiting, mapping);
	return given == ANSWER_LATER && now_ns - waiting->since_ns >= TABLE_LATE_NS ? ANSWER_NONE
										    : given;
}

static void answer_requests(struct recorded_mappings *recorded,
			    const struct process_table *processes, uint64_t now_ns)
{
	/* Each is taken out first: identifying its file is a call that may hang. */
	for (size_t left = recorded->waiting.count; left; left--) {
		struct waiting_request waiting = recorded->waiting.items[0];

		array_drop_first(&recorded->waiting, 1);
		guard_about(waiting.request.pid);
		if (answer(recorded, &waiting, processes, now_ns) == ANSWER_LATER)
			array_push(&recorded->waiting, waiting);
	}
}

bool recorded_mappings_has_work(const struct recorded_mappings *recorded, uint64_t now_ns)
{
	return recorded && (recorded->waiting.count || is_walked_slot_due(recorded, 0, now_ns));
}

void recorded_mappings_tick(struct recorded_mappings *recorded,
			    const struct process_table *processes, uint64_t now_ns)
{
	if (!recorded)
		return;
	ring_buffer__consume(recorded->ring);
	answer_requests(recorded, processes, now_ns);
	forget_if_room_is_short(recorded, now_ns);
	release_forgotten(recorded, now_ns);
	free_walked_slots(recorded, now_ns);
}

/* --- opening --- */

struct error *recorded_mappings_create(const struct recorded_mappings_options *options,
				       struct recorded_mappings **ret)
{
	_cleanup_(recorded_mappings_destroy) struct recorded_mappings *recorded =
		calloc(1, sizeof(*recorded));
	struct error *err;

	if (!recorded)
		return &error_no_memory;
	recorded->options = *options;
	recorded->ring = ring_buffer__new(options->requests, take_request, recorded, NULL);
	if (!recorded->ring)
		return error_system(errno, "the ring of mappings");
	err = unwind_store_take(options->store, RECORDED_SLOTS * RECORDED_WORDS, &recorded->slots);
	if (err)
		return err;
	for (uint32_t i = 0; i < RECORDED_SLOTS; i++)
		free_slot(recorded, recorded->slots + i * (uint32_t)RECORDED_WORDS);
	*ret = take_ptr(recorded);
	return NULL;
}

void recorded_mappings_destroy(struct recorded_mappings *recorded)
{
	if (!recorded)
		return;
	for (size_t i = 0; i < recorded->tables.count; i++)
		unwind_table_cache_release(recorded->options.tables, recorded->tables.items[i]);
	release_forgotten(recorded, UINT64_MAX);
	ring_buffer__free(recorded->ring);
	array_deinit(&recorded->waiting);
	array_deinit(&recorded->walked);
	array_deinit(&recorded->files);
	array_deinit(&recorded->tables);
	array_deinit(&recorded->forgotten);
	free(recorded);
}
