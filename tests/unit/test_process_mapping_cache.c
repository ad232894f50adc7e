/* SPDX-License-Identifier: BSD-2-Clause */
/* Of spaces, and of the tables in them. */
#include "process/mapping_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/process_user.h"
#include "unit/unit.h"

struct caches {
	struct unwind_store *store;
	struct unwind_table_cache *tables;
	struct mapping_cache *spaces;
};

static void open_limited(struct caches *s, const struct unwind_store_options *options)
{
	expect_ok(unwind_store_create(options, &s->store));
	expect_ok(unwind_table_cache_create(
		&(struct unwind_table_cache_options){
			.store = s->store, .max_bytes = options->max_bytes, .no_disk = true },
		&s->tables));
	expect_ok(mapping_cache_create(s->store, s->tables, &s->spaces));
}

static void open_caches(struct caches *s, size_t bytes)
{
	open_limited(s, &(struct unwind_store_options){ .max_bytes = bytes });
}

static void close_caches(struct caches *s)
{
	mapping_cache_destroy(s->spaces);
	unwind_table_cache_destroy(s->tables);
	unwind_store_destroy(s->store);
}

static void wait_for_builders(struct caches *s)
{
	while (unwind_table_cache_usage(s->tables).answered <
	       unwind_table_cache_usage(s->tables).asked) {
		unwind_table_cache_wait(s->tables, clock_ns(CLOCK_MONOTONIC) + NS_PER_S);
		unwind_table_cache_collect(s->tables);
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

/* NULL: the file cannot be told, or there is no memory. */
static struct cached_table *find_table(const struct caches *s, uint32_t pid,
				       const struct profile_mapping *mapping)
{
	struct words identity;

	return mapped_file_identify(pid, mapping, &identity)
		       ? unwind_table_cache_find(s->tables, pid, mapping, &identity)
		       : NULL;
}

TEST(unused_tables_are_evicted)
{
	struct cached_table *tables[array_length(programs)];
	struct profile_mapping mappings[array_length(programs)];
	struct name *names[array_length(programs)];
	const uint32_t me = (uint32_t)getpid();
	struct caches s;
	size_t used;

	open_caches(&s, 4 * UNWIND_CHUNK * 4);
	for (size_t i = 0; i < array_length(programs); i++) {
		mappings[i] = mapping_of(programs[i], &names[i], NULL);
		tables[i] = find_table(&s, me, &mappings[i]);
		assert_non_null(tables[i]);
		assert_int_equal(tables[i]->state, CACHED_TABLE_PENDING);
		assert_ptr_equal(find_table(&s, me, &mappings[i]), tables[i]);
		unwind_table_cache_use(s.tables, tables[i]);
	}
	wait_for_builders(&s);
	assert_int_equal(unwind_table_cache_usage(s.tables).tables, array_length(programs));
	used = unwind_store_use(s.store).used_bytes;
	/* All are used: none goes. */
	assert_false(unwind_table_cache_make_room(s.tables));
	/* The one that was released first goes first. */
	unwind_table_cache_release(s.tables, tables[2]);
	unwind_table_cache_release(s.tables, tables[0]);
	assert_true(unwind_table_cache_make_room(s.tables));
	assert_ptr_equal(find_table(&s, me, &mappings[0]), tables[0]);
	assert_int_equal(tables[0]->state, CACHED_TABLE_READY);
	assert_int_equal(unwind_table_cache_usage(s.tables).tables, array_length(programs) - 1);
	assert_true(unwind_store_use(s.store).used_bytes < used);
	/* It comes back when it is wanted. */
	tables[2] = find_table(&s, me, &mappings[2]);
	assert_int_equal(tables[2]->state, CACHED_TABLE_PENDING);
	wait_for_builders(&s);
	assert_int_equal(tables[2]->state, CACHED_TABLE_READY);
	assert_int_equal(unwind_store_use(s.store).used_bytes, used);
	close_caches(&s);
	for (size_t i = 0; i < array_length(programs); i++)
		free(names[i]);
}

/* Another user's process, which waits. */
static pid_t start_stranger(void)
{
	int ends[2];
	pid_t pid;
	char ready;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		/* In this order: setuid(2) clears it. */
		if (setuid(65534) || prctl(PR_SET_PDEATHSIG, SIGKILL) ||
		    write(ends[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &ready, 1), 1);
	close(ends[0]);
	return pid;
}

/* Where nothing but the build-id is known of a file, here because nothing is mapped there. */
TEST(a_claim_counts_for_processes_of_one_user)
{
	const uint32_t me = (uint32_t)getpid();
	struct profile_mapping mapping;
	struct cached_table *ours;
	struct caches s;
	struct name *name;
	pid_t stranger;

	if (geteuid() != 0)
		skip();
	stranger = start_stranger();
	open_caches(&s, UNWIND_CHUNK * 4);
	mapping = mapping_of(programs[0], &name, NULL);
	ours = find_table(&s, me, &mapping);
	assert_non_null(ours);
	assert_ptr_equal(find_table(&s, me, &mapping), ours);
	assert_non_null(find_table(&s, (uint32_t)stranger, &mapping));
	assert_ptr_not_equal(find_table(&s, (uint32_t)stranger, &mapping), ours);
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
	/* It is gone, so nothing can be told. */
	assert_null(find_table(&s, (uint32_t)stranger, &mapping));
	wait_for_builders(&s);
	close_caches(&s);
	free(name);
}

TEST(little_memory_is_used_again_and_again)
{
	const uint32_t me = (uint32_t)getpid();
	struct caches s;
	size_t found = 0;

	/* bash alone is a good part of it. */
	open_caches(&s, UNWIND_CHUNK * 4);
	for (size_t i = 0; i < 4 * array_length(programs); i++) {
		struct name *name;
		struct profile_mapping mapping =
			mapping_of(programs[i % array_length(programs)], &name, NULL);
		struct cached_table *table = find_table(&s, me, &mapping);

		unwind_table_cache_use(s.tables, table);
		wait_for_builders(&s);
		found += table->state == CACHED_TABLE_READY;
		unwind_table_cache_release(s.tables, table);
		free(name);
	}
	assert_int_equal(found, 4 * array_length(programs));
	assert_int_equal(unwind_table_cache_usage(s.tables).no_room, 0);
	assert_true(unwind_store_use(s.store).chunk_bytes <= UNWIND_CHUNK * 4 + 64);
	close_caches(&s);
}

/* Process 1 is of root, all others are of one user with a share. */
static uint32_t user_with_share(uint32_t pid)
{
	return pid == 1 ? 0 : 7;
}

/* Asked for by a process, and used. */
static struct cached_table *use_program(struct caches *s, uint32_t pid, const char *path)
{
	struct name *name;
	struct profile_mapping mapping = mapping_of(path, &name, NULL);
	struct cached_table *table = find_table(s, pid, &mapping);

	assert_non_null(table);
	unwind_table_cache_use(s->tables, table);
	wait_for_builders(s);
	free(name);
	return table;
}

/* Of its table alone. */
static size_t bytes_of(const char *path)
{
	struct caches s;
	size_t bytes;

	open_caches(&s, UNWIND_CHUNK * 4);
	use_program(&s, 1, path);
	bytes = unwind_store_use(s.store).used_bytes;
	close_caches(&s);
	return bytes;
}

TEST(a_user_has_a_share_of_the_room_for_tables)
{
	const uint32_t me = (uint32_t)getpid();
	struct cached_table *small, *large;
	struct caches s;
	size_t before;

	/* A share is an eighth. In an emulator bash may be a program of another machine, which has
	 * no table to speak of. */
	if (bytes_of("/bin/bash") <= UNWIND_CHUNK * 4 / 8)
		skip();
	open_caches(&s, UNWIND_CHUNK * 4);
	unwind_table_cache_limit_users(s.tables, user_with_share);
	small = use_program(&s, me, "/bin/ls");
	assert_int_equal(small->state, CACHED_TABLE_READY);
	large = use_program(&s, me, "/bin/bash");
	assert_int_equal(large->state, CACHED_TABLE_FAILED);
	assert_int_equal(unwind_table_cache_usage(s.tables).no_room, 1);
	unwind_table_cache_release(s.tables, large);
	/* Others have their own room, at once. */
	assert_ptr_equal(use_program(&s, 1, "/bin/bash"), large);
	assert_int_equal(large->state, CACHED_TABLE_READY);
	/* What the user does not use any more makes room for what it does. */
	before = unwind_table_cache_usage(s.tables).tables;
	unwind_table_cache_release(s.tables, small);
	for (size_t i = 1; i < 4; i++)
		unwind_table_cache_release(s.tables, use_program(&s, me, programs[i]));
	assert_int_equal(unwind_table_cache_usage(s.tables).no_room, 1);
	assert_true(unwind_table_cache_usage(s.tables).tables < before + 3);
	close_caches(&s);
}

TEST(a_user_has_a_share_of_the_rules)
{
	const uint32_t me = (uint32_t)getpid();
	struct cached_table *second;
	struct caches s;

	open_limited(&s, &(struct unwind_store_options){ .max_bytes = 64 * UNWIND_CHUNK * 4,
							 .max_rules = 800 });
	unwind_table_cache_limit_users(s.tables, user_with_share);
	/* The first file may have more than an eighth, then there is no other one. */
	assert_int_equal(use_program(&s, me, "/bin/bash")->state, CACHED_TABLE_READY);
	assert_true(unwind_store_use(s.store).rules > 100);
	second = use_program(&s, me, "/bin/ls");
	assert_int_equal(second->state, CACHED_TABLE_FAILED);
	assert_int_equal(unwind_table_cache_usage(s.tables).no_room, 1);
	assert_ptr_equal(use_program(&s, 1, "/bin/ls"), second);
	assert_int_equal(second->state, CACHED_TABLE_READY);
	assert_int_equal(unwind_store_use(s.store).rules_refused, 0);
	close_caches(&s);
}

/* So many, apart from each other; the caller's. */
static struct address_space *many_mappings(size_t count)
{
	struct address_space *space = address_space_create();
	struct name *name;
	struct profile_mapping mapping = mapping_of("/bin/ls", &name, NULL);

	/* Files that are not there: such a mapping is not merged with the next one. */
	memset(name->bytes, '/', name->length);
	for (size_t i = 0; i < count; i++) {
		mapping.start = (2 * i + 1) << 16;
		mapping.end = mapping.start + 4096;
		mapping.path = name;
		assert_true(address_space_put(&space, &mapping));
	}
	return space;
}

TEST(a_user_has_a_share_of_the_room_for_mappings)
{
	const uint32_t me = (uint32_t)getpid();
	struct address_space *large = many_mappings(4000), *small = many_mappings(10);
	const struct name *names[] = { large->items[0].path, small->items[0].path };
	struct cached_mappings *space;
	struct caches s;

	open_caches(&s, UNWIND_CHUNK * 4);
	unwind_table_cache_limit_users(s.tables, user_with_share);
	assert_null(mapping_cache_put(s.spaces, me, large));
	space = mapping_cache_put(s.spaces, me, small);
	assert_non_null(space);
	mapping_cache_release(s.spaces, space);
	space = mapping_cache_put(s.spaces, 1, large);
	assert_non_null(space);
	mapping_cache_release(s.spaces, space);
	wait_for_builders(&s);
	close_caches(&s);
	address_space_release(large);
	address_space_release(small);
	for (size_t i = 0; i < array_length(names); i++)
		free((void *)names[i]);
}

TEST(a_file_that_cannot_be_is_nothing)
{
	const uint32_t me = (uint32_t)getpid();
	struct cached_table *table;
	struct name *name;
	struct profile_mapping mapping = mapping_of("/bin/ls", &name, NULL);
	struct caches s;

	open_caches(&s, 16 * UNWIND_CHUNK * 4);
	mapping.build_id[0] ^= 1;
	table = find_table(&s, me, &mapping);
	wait_for_builders(&s);
	assert_int_equal(table->state, CACHED_TABLE_FAILED);
	assert_int_equal(unwind_table_cache_usage(s.tables).failed, 1);
	/* The same process is not asked again, another one is. */
	assert_int_equal(find_table(&s, me, &mapping)->state, CACHED_TABLE_FAILED);
	assert_int_equal(find_table(&s, 1, &mapping)->state, CACHED_TABLE_PENDING);
	wait_for_builders(&s);
	assert_int_equal(unwind_table_cache_usage(s.tables).failed, 2);
	close_caches(&s);
	free(name);
}

/* A file system that never answers, not even when it is mounted: what is looked for in it hangs
 * until the descriptor is closed. */
static int mount_silent(const char *directory)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[96];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fuse);
	if (fuse < 0 || mount("silent", directory, "fuse", MS_NOSUID | MS_NODEV, options))
		skip();
	return fuse;
}

static void unmount_silent(const char *directory, int fuse)
{
	close(fuse);
	umount2(directory, MNT_DETACH);
}

/* In a file system that hangs, and told from the host's own files by their build-ids. */
static struct profile_mapping mapping_that_hangs(const struct scratch *scratch, uint8_t number,
						 struct name **ret_name)
{
	const char *path = scratch_path(scratch, "program");
	struct profile_mapping mapping = { .start = 0x10000,
					   .end = 0x11000,
					   .build_id_length = BUILD_ID_MAX,
					   .build_id = { 0xff, number } };

	*ret_name = calloc(1, sizeof(struct name) + strlen(path) + 1);
	(*ret_name)->length = (uint32_t)strlen(path);
	strcpy((*ret_name)->bytes, path);
	mapping.path = *ret_name;
	return mapping;
}

static void wait_for_table(struct caches *s, const struct cached_table *table)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + 60 * NS_PER_S;

	while (table->state == CACHED_TABLE_PENDING && clock_ns(CLOCK_MONOTONIC) < until) {
		unwind_table_cache_wait(s->tables, clock_ns(CLOCK_MONOTONIC) + NS_PER_S);
		unwind_table_cache_collect(s->tables);
	}
	assert_int_equal(table->state, CACHED_TABLE_READY);
}

TEST(a_file_that_hangs_blocks_no_process)
{
	const uint32_t me = (uint32_t)getpid();
	struct profile_mapping hanging, other;
	struct name *names[2];
	struct cached_table *waits;
	struct scratch scratch;
	struct caches s;
	int fuse;

	scratch_init(&scratch);
	other = mapping_of("/bin/cp", &names[1], NULL);
	fuse = mount_silent(scratch.path);
	hanging = mapping_that_hangs(&scratch, 0, &names[0]);
	open_caches(&s, 16 * UNWIND_CHUNK * 4);
	waits = find_table(&s, me, &hanging);
	wait_for_table(&s, find_table(&s, me, &other));
	assert_int_equal(waits->state, CACHED_TABLE_PENDING);
	close_caches(&s);
	unmount_silent(scratch.path, fuse);
	free(names[0]);
	free(names[1]);
	scratch_deinit(&scratch);
}

/* More of them than threads are left behind, all of one user: the others' are made. */
TEST(files_of_a_user_that_hang_keep_no_other_user)
{
	struct profile_mapping hanging, other;
	struct name *names[2];
	struct scratch scratch;
	struct caches s;
	int fuse, gate[2], status;
	pid_t stranger;
	char byte;

	if (geteuid() != 0)
		skip();
	scratch_init(&scratch);
	other = mapping_of("/bin/cp", &names[1], NULL);
	assert_int_equal(pipe(gate), 0);
	stranger = fork();
	if (!stranger) {
		close(gate[1]);
		_exit(setuid(65534) || read(gate[0], &byte, 1) != 0);
	}
	close(gate[0]);
	while (process_user((uint32_t)stranger) != 65534)
		usleep(1000);
	fuse = mount_silent(scratch.path);
	open_caches(&s, 16 * UNWIND_CHUNK * 4);
	for (unsigned number = 0; number < 60; number++) {
		hanging = mapping_that_hangs(&scratch, (uint8_t)number, &names[0]);
		assert_non_null(find_table(&s, (uint32_t)stranger, &hanging));
		free(names[0]);
	}
	wait_for_table(&s, find_table(&s, (uint32_t)getpid(), &other));
	close_caches(&s);
	unmount_silent(scratch.path, fuse);
	close(gate[1]);
	assert_int_equal(waitpid(stranger, &status, 0), stranger);
	free(names[1]);
	scratch_deinit(&scratch);
}

TEST(a_space_is_kept_for_walks_that_go_on)
{
	const uint32_t me = (uint32_t)getpid();
	struct address_space *mappings = address_space_create();
	struct cached_mappings *space, *same;
	struct profile_mapping mapping;
	struct caches s;
	struct name *name;
	uint64_t now;
	size_t used;

	open_caches(&s, 16 * UNWIND_CHUNK * 4);
	mapping = mapping_of("/bin/ls", &name, (char *)0x10000);
	assert_true(address_space_put(&mappings, &mapping));
	space = mapping_cache_put(s.spaces, me, mappings);
	assert_true(space->waits);
	wait_for_builders(&s);
	same = mapping_cache_put(s.spaces, me, mappings);
	assert_ptr_not_equal(space, same);
	assert_true(same->generation > space->generation);
	mapping_cache_release(s.spaces, space);
	space = mapping_cache_put(s.spaces, me, mappings);
	assert_ptr_equal(space, same);
	mapping_cache_release(s.spaces, same);
	used = unwind_store_use(s.store).used_bytes;
	mapping_cache_release(s.spaces, space);
	now = clock_ns(CLOCK_MONOTONIC);
	/* A second is not enough. */
	mapping_cache_give_back(s.spaces, now + NS_PER_S);
	assert_int_equal(unwind_store_use(s.store).used_bytes, used);
	assert_false(unwind_table_cache_make_room(s.tables));
	mapping_cache_give_back(s.spaces, now + 3 * NS_PER_S);
	assert_true(unwind_store_use(s.store).used_bytes < used);
	assert_true(unwind_table_cache_make_room(s.tables));
	assert_int_equal(unwind_store_use(s.store).used_bytes, 0);
	address_space_release(mappings);
	close_caches(&s);
	free(name);
}

UNIT_TESTS(cmocka_unit_test(unused_tables_are_evicted),
	   cmocka_unit_test(a_claim_counts_for_processes_of_one_user),
	   cmocka_unit_test(little_memory_is_used_again_and_again),
	   cmocka_unit_test(a_user_has_a_share_of_the_room_for_tables),
	   cmocka_unit_test(a_user_has_a_share_of_the_rules),
	   cmocka_unit_test(a_user_has_a_share_of_the_room_for_mappings),
	   cmocka_unit_test(a_file_that_cannot_be_is_nothing),
	   cmocka_unit_test(a_file_that_hangs_blocks_no_process),
	   cmocka_unit_test(files_of_a_user_that_hang_keep_no_other_user),
	   cmocka_unit_test(a_space_is_kept_for_walks_that_go_on))
