/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/recorded_mappings.h"

#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "process/maps.h"
#include "unit/unit.h"

struct scene {
	struct recorded_mappings_options options;
	struct mapping_recording recording;
	struct unwind_store *store;
	struct unwind_table_cache *tables;
	struct recorded_mappings *recorded;
};

static int map_of(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries)
{
	int map = bpf_map_create(type, "test", key, value, entries, NULL);

	if (map < 0 && (errno == EPERM || errno == ENOSYS || errno == EINVAL))
		skip();
	assert_true(map >= 0);
	return map;
}

static void open_scene(struct scene *s)
{
	*s = (struct scene){ 0 };
	expect_ok(unwind_store_create(&(struct unwind_store_options){ 0 }, &s->store));
	expect_ok(unwind_table_cache_create(
		&(struct unwind_table_cache_options){
			.store = s->store, .max_bytes = 64 << 20, .no_disk = true },
		&s->tables));
	s->options = (struct recorded_mappings_options){
		.slots = map_of(BPF_MAP_TYPE_QUEUE, 0, sizeof(uint32_t), RECORDED_SLOTS),
		.files = map_of(BPF_MAP_TYPE_HASH, sizeof(struct file_part),
				sizeof(struct known_file), KNOWN_FILES_MAX),
		.requests = map_of(BPF_MAP_TYPE_RINGBUF, 0, 0, MAPPING_REQUEST_BYTES),
		.recording = &s->recording,
		.store = s->store,
		.tables = s->tables,
	};
	expect_ok(recorded_mappings_create(&s->options, &s->recorded));
}

static void close_scene(struct scene *s)
{
	recorded_mappings_destroy(s->recorded);
	unwind_table_cache_destroy(s->tables);
	unwind_store_destroy(s->store);
	close(s->options.slots);
	close(s->options.files);
	close(s->options.requests);
}

static bool take_slot(const struct scene *s, uint32_t *ret)
{
	return !bpf_map_lookup_and_delete_elem(s->options.slots, NULL, ret);
}

TEST(slots_are_apart_and_come_back)
{
	uint32_t slots[RECORDED_SLOTS], again;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct scene s;

	open_scene(&s);
	for (size_t i = 0; i < RECORDED_SLOTS; i++) {
		assert_true(take_slot(&s, &slots[i]));
		assert_int_equal(slots[i] % UNWIND_MAPPING_WORDS, 0);
		assert_int_equal(slots[i] / UNWIND_CHUNK, slots[0] / UNWIND_CHUNK);
		if (i)
			assert_true(slots[i] - slots[i - 1] >= RECORDED_WORDS);
	}
	assert_false(take_slot(&s, &again));
	/* One that may be walked is not given to another process yet. */
	recorded_mappings_give_back(s.recorded, slots[5], now);
	assert_false(recorded_mappings_has_work(s.recorded, now + RECORDED_KEPT_NS / 2));
	recorded_mappings_tick(s.recorded, NULL, now + RECORDED_KEPT_NS / 2);
	assert_false(take_slot(&s, &again));
	assert_true(recorded_mappings_has_work(s.recorded, now + 2 * RECORDED_KEPT_NS));
	recorded_mappings_tick(s.recorded, NULL, now + 2 * RECORDED_KEPT_NS);
	assert_false(recorded_mappings_has_work(s.recorded, now + 2 * RECORDED_KEPT_NS));
	assert_true(take_slot(&s, &again));
	assert_int_equal(again, slots[5]);
	close_scene(&s);
}

/* --- files --- */

struct found_mapping {
	uint64_t address;
	bool is_found;
	struct profile_mapping mapping;
};

/* The mapping of this process that has an address. */
static bool take_mapping(void *context, const struct mapping *mapping, struct text build_id)
{
	struct found_mapping *found = context;

	if (found->address < mapping->start || found->address >= mapping->end)
		return true;
	found->is_found = true;
	found->mapping = (struct profile_mapping){
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->offset,
		.build_id_length = (uint8_t)build_id.length,
		.path = calloc(1, sizeof(struct name) + mapping->path.length + 1),
	};
	memcpy(found->mapping.build_id, build_id.bytes, build_id.length);
	memcpy(((struct name *)found->mapping.path)->bytes, mapping->path.bytes,
	       mapping->path.length);
	((struct name *)found->mapping.path)->length = (uint32_t)mapping->path.length;
	return true;
}

static struct profile_mapping mapping_at(uint64_t address)
{
	struct found_mapping found = { .address = address };
	struct process_maps *maps;
	int proc;

	expect_ok(file_open_dir("/proc", &proc));
	expect_ok(process_maps_create(proc, &maps));
	assert_int_equal(process_maps_read(maps, (uint32_t)getpid(), take_mapping, &found), 0);
	process_maps_destroy(maps);
	close(proc);
	assert_true(found.is_found);
	return found.mapping;
}

static struct cached_table *table_of(const struct scene *s, const struct profile_mapping *mapping)
{
	struct words identity;
	struct cached_table *table;

	assert_true(mapped_file_identify((uint32_t)getpid(), mapping, &identity));
	table = unwind_table_cache_find(s->tables, (uint32_t)getpid(), mapping, &identity);
	assert_non_null(table);
	while (table->state == CACHED_TABLE_PENDING) {
		unwind_table_cache_wait(s->tables, clock_ns(CLOCK_MONOTONIC) + NS_PER_S);
		unwind_table_cache_collect(s->tables);
	}
	assert_int_equal(table->state, CACHED_TABLE_READY);
	return table;
}

static struct file_part part_of(const struct cached_table *table,
				const struct profile_mapping *mapping)
{
	return (struct file_part){
		.inode = table->inode.number,
		.changed_ns = table->inode.changed_ns,
		.offset = mapping->file_offset,
		.bytes = mapping->end - mapping->start,
		.device = table->inode.device,
	};
}

TEST(a_known_file_is_where_the_linker_says)
{
	void *function = dlsym(RTLD_DEFAULT, "printf");
	struct profile_mapping mapping;
	struct cached_table *table;
	struct known_file known;
	struct file_part part;
	struct link_map *map;
	struct scene s;
	Dl_info info;

	open_scene(&s);
	mapping = mapping_at((uintptr_t)function);
	table = table_of(&s, &mapping);
	part = part_of(table, &mapping);
	assert_int_not_equal(bpf_map_lookup_elem(s.options.files, &part, &known), 0);
	recorded_mappings_learn(s.recorded, &mapping, table);
	assert_int_equal(bpf_map_lookup_elem(s.options.files, &part, &known), 0);
	assert_int_equal(known.kind, UNWIND_MAPPING_TABLE);
	assert_int_equal(known.table, table->location);
	assert_int_equal(s.recording.files, 1);
	/* The load bias, as the dynamic linker knows it. */
	assert_true(dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP));
	assert_int_equal(known.relative + mapping.start, map->l_addr + table->base);
	/* Again: it is known. */
	table->known_bytes = 0;
	recorded_mappings_learn(s.recorded, &mapping, table);
	assert_int_equal(s.recording.files, 1);
	/* It keeps its table. */
	assert_int_equal(table->users, 1);
	assert_false(unwind_table_cache_make_room(s.tables));
	close_scene(&s);
	free((void *)mapping.path);
}

TEST(an_entry_counts_in_its_epoch_alone)
{
	struct unwind_process entry = { .slot = 8, .count = 1 };
	struct scene s;

	open_scene(&s);
	assert_true(recorded_mappings_has(s.recorded, &entry));
	entry.epoch = 1;
	assert_false(recorded_mappings_has(s.recorded, &entry));
	entry.epoch = 0;
	entry.count = 0;
	assert_false(recorded_mappings_has(s.recorded, &entry));
	entry.count = 1;
	entry.slot = 0;
	assert_false(recorded_mappings_has(s.recorded, &entry));
	assert_false(recorded_mappings_has(NULL, &entry));
	close_scene(&s);
}

UNIT_TESTS(cmocka_unit_test(slots_are_apart_and_come_back),
	   cmocka_unit_test(a_known_file_is_where_the_linker_says),
	   cmocka_unit_test(an_entry_counts_in_its_epoch_alone))
