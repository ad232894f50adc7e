/* SPDX-License-Identifier: BSD-2-Clause */
/* Of spaces, and of the tables in them. */
#include "trace/space_shelf.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "unit/unit.h"

struct shelves {
	struct unwind_store *store;
	struct table_makers *makers;
	struct table_shelf *tables;
	struct space_shelf *spaces;
};

static void open_shelves(struct shelves *s, size_t bytes)
{
	expect_ok(unwind_store_create(&(struct unwind_store_options){ .max_bytes = bytes },
				      &s->store));
	expect_ok(table_makers_create(NULL, &s->makers));
	expect_ok(table_shelf_create(s->store, s->makers, bytes, &s->tables));
	expect_ok(space_shelf_create(s->store, s->tables, &s->spaces));
}

static void close_shelves(struct shelves *s)
{
	space_shelf_destroy(s->spaces);
	table_shelf_destroy(s->tables);
	table_makers_destroy(s->makers);
	unwind_store_destroy(s->store);
}

static void wait_for_makers(struct shelves *s)
{
	while (table_shelf_usage(s->tables).answered < table_shelf_usage(s->tables).asked) {
		table_makers_wait(s->makers, clock_ns(CLOCK_MONOTONIC) + NS_PER_S);
		table_shelf_put_made(s->tables);
	}
}

/* A process that has some programs one after the other. */
static struct profile_mapping mapping_of(const char *path, struct name **ret_name, char *memory)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct profile_mapping mapping = { .start = (uintptr_t)memory,
					   .end = (uintptr_t)memory + 4096 };
	struct image image;
	struct elf elf;
	struct text id;

	*ret_name = calloc(1, sizeof(struct name) + strlen(path) + 1);
	(*ret_name)->length = (uint32_t)strlen(path);
	strcpy((*ret_name)->bytes, path);
	mapping.path = *ret_name;
	if (fd < 0)
		skip();
	assert_int_equal(image_open(fd, &image), 0);
	assert_true(elf_open(&image, &elf));
	id = elf_build_id(&elf);
	if (!id.length || id.length > BUILD_ID_MAX)
		skip();
	mapping.build_id_length = (uint8_t)id.length;
	memcpy(mapping.build_id, id.bytes, id.length);
	elf_close(&elf);
	image_close(&image);
	close(fd);
	return mapping;
}

static const char *const programs[] = { "/bin/ls", "/bin/cp", "/bin/sed", "/bin/tar", "/bin/bash" };

TEST(tables_that_nobody_uses_go_when_room_is_wanted)
{
	struct shelf_table *tables[array_length(programs)];
	struct profile_mapping mappings[array_length(programs)];
	struct name *names[array_length(programs)];
	const uint32_t me = (uint32_t)getpid();
	struct shelves s;
	size_t used;

	open_shelves(&s, 4 * UNWIND_CHUNK * 4);
	for (size_t i = 0; i < array_length(programs); i++) {
		mappings[i] = mapping_of(programs[i], &names[i], NULL);
		tables[i] = table_shelf_find(s.tables, me, &mappings[i]);
		assert_non_null(tables[i]);
		assert_int_equal(tables[i]->state, SHELF_LATER);
		assert_ptr_equal(table_shelf_find(s.tables, me, &mappings[i]), tables[i]);
		table_shelf_use(s.tables, tables[i]);
	}
	wait_for_makers(&s);
	assert_int_equal(table_shelf_usage(s.tables).tables, array_length(programs));
	used = unwind_store_use(s.store).used_bytes;
	/* All are used: none goes. */
	assert_false(table_shelf_make_room(s.tables));
	/* The one that was released first goes first. */
	table_shelf_release(s.tables, tables[2]);
	table_shelf_release(s.tables, tables[0]);
	assert_true(table_shelf_make_room(s.tables));
	assert_ptr_equal(table_shelf_find(s.tables, me, &mappings[0]), tables[0]);
	assert_int_equal(tables[0]->state, SHELF_TABLE);
	assert_int_equal(table_shelf_usage(s.tables).tables, array_length(programs) - 1);
	assert_true(unwind_store_use(s.store).used_bytes < used);
	/* It comes back when it is wanted. */
	tables[2] = table_shelf_find(s.tables, me, &mappings[2]);
	assert_int_equal(tables[2]->state, SHELF_LATER);
	wait_for_makers(&s);
	assert_int_equal(tables[2]->state, SHELF_TABLE);
	assert_int_equal(unwind_store_use(s.store).used_bytes, used);
	close_shelves(&s);
	for (size_t i = 0; i < array_length(programs); i++)
		free(names[i]);
}

TEST(little_memory_is_used_again_and_again)
{
	const uint32_t me = (uint32_t)getpid();
	struct shelves s;
	size_t found = 0;

	/* bash alone is a good part of it. */
	open_shelves(&s, UNWIND_CHUNK * 4);
	for (size_t i = 0; i < 4 * array_length(programs); i++) {
		struct name *name;
		struct profile_mapping mapping =
			mapping_of(programs[i % array_length(programs)], &name, NULL);
		struct shelf_table *table = table_shelf_find(s.tables, me, &mapping);

		table_shelf_use(s.tables, table);
		wait_for_makers(&s);
		found += table->state == SHELF_TABLE;
		table_shelf_release(s.tables, table);
		free(name);
	}
	assert_int_equal(found, 4 * array_length(programs));
	assert_int_equal(table_shelf_usage(s.tables).no_room, 0);
	assert_true(unwind_store_use(s.store).chunk_bytes <= UNWIND_CHUNK * 4 + 64);
	close_shelves(&s);
}

TEST(a_file_that_cannot_be_is_nothing)
{
	const uint32_t me = (uint32_t)getpid();
	struct shelf_table *table;
	struct name *name;
	struct profile_mapping mapping = mapping_of("/bin/ls", &name, NULL);
	struct shelves s;

	open_shelves(&s, 16 * UNWIND_CHUNK * 4);
	mapping.build_id[0] ^= 1;
	table = table_shelf_find(s.tables, me, &mapping);
	wait_for_makers(&s);
	assert_int_equal(table->state, SHELF_NOTHING);
	assert_int_equal(table_shelf_usage(s.tables).failed, 1);
	/* The same process is not asked again, another one is. */
	assert_int_equal(table_shelf_find(s.tables, me, &mapping)->state, SHELF_NOTHING);
	assert_int_equal(table_shelf_find(s.tables, 1, &mapping)->state, SHELF_LATER);
	wait_for_makers(&s);
	assert_int_equal(table_shelf_usage(s.tables).failed, 2);
	close_shelves(&s);
	free(name);
}

/* Who opens a file with a lease waits until its holder gives that up, as for a server that does not
 * answer (fcntl(2)). */
TEST(a_file_that_hangs_keeps_nobody)
{
	const uint32_t me = (uint32_t)getpid();
	struct profile_mapping hanging, other;
	struct name *names[2];
	struct shelf_table *waits, *made;
	struct scratch scratch;
	struct shelves s;
	char command[128];
	int held;

	scratch_init(&scratch);
	snprintf(command, sizeof(command), "cp /bin/ls %s", scratch.path);
	assert_int_equal(system(command), 0);
	hanging = mapping_of(scratch_path(&scratch, "ls"), &names[0], (char *)0x10000);
	/* None of the host's own by that name. */
	hanging.build_id[0] ^= 1;
	other = mapping_of("/bin/cp", &names[1], NULL);
	signal(SIGIO, SIG_IGN);
	held = open(scratch_path(&scratch, "ls"), O_RDWR | O_CLOEXEC);
	if (held < 0 || fcntl(held, F_SETLEASE, F_WRLCK))
		skip();
	open_shelves(&s, 16 * UNWIND_CHUNK * 4);
	waits = table_shelf_find(s.tables, me, &hanging);
	made = table_shelf_find(s.tables, me, &other);
	while (made->state == SHELF_LATER) {
		table_makers_wait(s.makers, clock_ns(CLOCK_MONOTONIC) + NS_PER_S);
		table_shelf_put_made(s.tables);
	}
	assert_int_equal(made->state, SHELF_TABLE);
	assert_int_equal(waits->state, SHELF_LATER);
	close_shelves(&s);
	assert_int_equal(fcntl(held, F_SETLEASE, F_UNLCK), 0);
	close(held);
	free(names[0]);
	free(names[1]);
	scratch_deinit(&scratch);
}

TEST(a_space_is_kept_for_walks_that_go_on)
{
	const uint32_t me = (uint32_t)getpid();
	struct address_space *mappings = address_space_create();
	struct shelf_space *space, *same;
	struct profile_mapping mapping;
	struct shelves s;
	struct name *name;
	uint64_t now;
	size_t used;

	open_shelves(&s, 16 * UNWIND_CHUNK * 4);
	mapping = mapping_of("/bin/ls", &name, (char *)0x10000);
	assert_true(address_space_put(&mappings, &mapping));
	space = space_shelf_put(s.spaces, me, mappings);
	assert_true(space->waits);
	wait_for_makers(&s);
	same = space_shelf_put(s.spaces, me, mappings);
	assert_ptr_not_equal(space, same);
	assert_true(same->generation > space->generation);
	space_shelf_release(s.spaces, space);
	space = space_shelf_put(s.spaces, me, mappings);
	assert_ptr_equal(space, same);
	space_shelf_release(s.spaces, same);
	used = unwind_store_use(s.store).used_bytes;
	space_shelf_release(s.spaces, space);
	now = clock_ns(CLOCK_MONOTONIC);
	/* A second is not enough. */
	space_shelf_give_back(s.spaces, now + NS_PER_S);
	assert_int_equal(unwind_store_use(s.store).used_bytes, used);
	assert_false(table_shelf_make_room(s.tables));
	space_shelf_give_back(s.spaces, now + 3 * NS_PER_S);
	assert_true(unwind_store_use(s.store).used_bytes < used);
	assert_true(table_shelf_make_room(s.tables));
	assert_int_equal(unwind_store_use(s.store).used_bytes, 0);
	address_space_release(mappings);
	close_shelves(&s);
	free(name);
}

UNIT_TESTS(cmocka_unit_test(tables_that_nobody_uses_go_when_room_is_wanted),
	   cmocka_unit_test(little_memory_is_used_again_and_again),
	   cmocka_unit_test(a_file_that_cannot_be_is_nothing),
	   cmocka_unit_test(a_file_that_hangs_keeps_nobody),
	   cmocka_unit_test(a_space_is_kept_for_walks_that_go_on))
