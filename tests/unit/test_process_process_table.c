/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/process_table_internal.h"

#include <stdio.h>

#include "process/address_space.h"
#include "unit/unit.h"

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#else
#include <malloc.h>
#endif

static size_t allocated_bytes(void)
{
#ifdef __SANITIZE_ADDRESS__
	return __sanitizer_get_current_allocated_bytes();
#else
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#endif
}

static struct process_table *new_table(bool only_begun, size_t memory)
{
	struct process_table *table;

	expect_ok(process_table_create(only_begun, memory, &table));
	process_table_record_changes(table);
	return table;
}

static void take(struct process_table *table, enum perf_record_kind kind, uint32_t pid,
		 uint32_t parent, uint64_t time)
{
	process_table_apply(table,
			    &(struct perf_record){
				    .kind = kind, .pid = pid, .parent = parent, .time_ns = time });
}

static void map(struct process_table *table, uint32_t pid, uint64_t start, uint64_t end,
		uint64_t offset, const char *path)
{
	process_table_apply(table, &(struct perf_record){
					   .kind = PERF_RECORD_OF_MAPPING,
					   .pid = pid,
					   .start = start,
					   .end = end,
					   .file_offset = offset,
					   .inode = path[0] == '/',
					   .path = text_of(path),
				   });
}

static void forks(struct process_table *table, uint32_t parent, uint32_t child, uint64_t time)
{
	take(table, PERF_RECORD_OF_FORK, child, parent, time);
}

static void execs(struct process_table *table, uint32_t pid, uint64_t time)
{
	take(table, PERF_RECORD_OF_EXEC, pid, 0, time);
}

static void exits(struct process_table *table, uint32_t pid, uint64_t time)
{
	take(table, PERF_RECORD_OF_EXIT, pid, 0, time);
}

/* "EXE+: START-END@OFFSET PATH, ...", with + when it is over. */
static void expect_image(const struct profile *profile, uint32_t number, const char *expected)
{
	const struct profile_image *image = &profile->images.items[number - 1];
	char said[1024];
	size_t length;

	assert_true(number && number <= profile->images.count);
	length = (size_t)snprintf(said, sizeof(said), "%s%s:", image->exe ? image->exe->bytes : "?",
				  image->is_over ? "+" : "");
	for (uint32_t i = 0; i < image->mapping_count; i++) {
		const struct profile_mapping *mapping =
			&profile->mappings.items[image->first_mapping + i];

		length += (size_t)snprintf(said + length, sizeof(said) - length, " %lx-%lx@%lx %s",
					   mapping->start, mapping->end, mapping->file_offset,
					   mapping->path->bytes);
	}
	assert_string_equal(said, expected);
}

static struct profile *put(struct process_table *table)
{
	struct profile *profile;

	expect_ok(profile_create(&profile));
	expect_ok(process_table_put(table, profile));
	return profile;
}

/* One image of process 1 with these mappings. */
static void expect_space(const char *expected, const uint64_t (*mappings)[3],
			 const char *const *paths, size_t count)
{
	struct process_table *table = new_table(false, 1 << 20);
	struct profile *profile;

	for (size_t i = 0; i < count; i++)
		map(table, 1, mappings[i][0], mappings[i][1], mappings[i][2], paths[i]);
	assert_int_equal(process_table_find_image(table, 1, 5), 1);
	profile = put(table);
	expect_image(profile, 1, expected);
	profile_destroy(profile);
	process_table_destroy(table);
}

TEST(the_later_mapping_wins)
{
	static const uint64_t apart[][3] = { { 0x30, 0x40, 7 }, { 0x10, 0x20, 5 } },
			      middle[][3] = { { 0x10, 0x50, 0x100 }, { 0x20, 0x30, 0 } },
			      head[][3] = { { 0x20, 0x40, 0x100 }, { 0x10, 0x30, 0 } },
			      tail[][3] = { { 0x20, 0x40, 0x100 }, { 0x30, 0x50, 0 } },
			      all[][3] = { { 0x20, 0x30, 0 },
					   { 0x30, 0x40, 0 },
					   { 0x10, 0x50, 0 } },
			      many[][3] = { { 0x10, 0x20, 0 },
					    { 0x20, 0x30, 0 },
					    { 0x30, 0x40, 0x100 },
					    { 0x18, 0x38, 0 } };
	static const char *const two[] = { "/a", "/b" }, *const three[] = { "/a", "/b", "/c" },
				 *const four[] = { "/a", "/b", "/c", "/d" };

	expect_space("/a: 10-20@5 /b 30-40@7 /a", apart, two, 2);
	expect_space("/a: 10-20@100 /a 20-30@0 /b 30-50@120 /a", middle, two, 2);
	expect_space("/a: 10-30@0 /b 30-40@110 /a", head, two, 2);
	expect_space("/a: 20-30@100 /a 30-50@0 /b", tail, two, 2);
	expect_space("/a: 10-50@0 /c", all, three, 3);
	expect_space("/a: 10-18@0 /a 18-38@0 /d 38-40@108 /c", many, four, 4);
}

TEST(nameless_memory_grows_together)
{
	static const uint64_t grows[][3] = { { 0x10, 0x20, 0 },
					     { 0x20, 0x30, 0 },
					     { 0x40, 0x50, 0 } },
			      overlaps[][3] = { { 0x10, 0x20, 0 },
						{ 0x30, 0x40, 0 },
						{ 0x20, 0x38, 0 } };
	static const char *const names[] = { "", "", "" }, *const mixed[] = { "", "/a", "" };

	expect_space("?: 10-30@0  40-50@0 ", grows, names, 3);
	expect_space("/a: 10-20@0  20-38@0  38-40@8 /a", overlaps, mixed, 3);
}

/* Against an array with a cell for each address. */
TEST(many_mappings_agree_with_a_model)
{
	struct address_space *space = address_space_create();
	struct name *names[4];
	uint8_t owner[256] = { 0 };
	uint64_t offset[256] = { 0 }, seed = 1;

	for (size_t i = 0; i < 4; i++) {
		names[i] = calloc(1, sizeof(*names[i]) + 2);
		names[i]->length = 1;
	}
	for (int round = 0; round < 2000; round++) {
		uint64_t start = next_random(&seed) % 255,
			 end = start + 1 + next_random(&seed) % 16;
		struct profile_mapping mapping = { .start = start, .inode = 1 };
		uint8_t who = (uint8_t)(next_random(&seed) % 4);

		mapping.end = end > 256 ? 256 : end;
		mapping.path = names[who];
		mapping.file_offset = next_random(&seed) % 1000;
		assert_true(address_space_put(&space, &mapping));
		for (uint64_t at = start; at < mapping.end; at++) {
			owner[at] = (uint8_t)(who + 1);
			offset[at] = mapping.file_offset + at - start;
		}
		for (size_t i = 0, at = 0; at < 256; at++) {
			const struct profile_mapping *here = &space->items[i];

			if (i == space->count || at < here->start) {
				assert_int_equal(owner[at], 0);
				continue;
			}
			assert_ptr_equal(here->path, names[owner[at] - 1]);
			assert_int_equal(here->file_offset + at - here->start, offset[at]);
			i += at + 1 == here->end;
		}
	}
	address_space_release(space);
	for (size_t i = 0; i < 4; i++)
		free(names[i]);
}

TEST(a_child_has_the_mappings_of_its_parent_at_the_fork)
{
	struct process_table *table = new_table(false, 1 << 20);
	struct profile *profile;

	map(table, 1, 0x10, 0x20, 0, "/a");
	forks(table, 1, 2, 100);
	map(table, 1, 0x30, 0x40, 0, "/parent");
	map(table, 2, 0x50, 0x60, 0, "/child");
	forks(table, 2, 3, 110);
	forks(table, 2, 4, 120);
	assert_int_equal(process_table_find_image(table, 2, 150), 1);
	assert_int_equal(process_table_find_image(table, 1, 150), 2);
	assert_int_equal(process_table_find_image(table, 2, 150), 1);
	assert_int_equal(process_table_find_image(table, 3, 150), 3);
	assert_int_equal(process_table_find_image(table, 4, 150), 4);
	/* Nothing had the number then, or ever. */
	assert_int_equal(process_table_find_image(table, 2, 99), 0);
	assert_int_equal(process_table_find_image(table, 5, 150), 0);
	profile = put(table);
	assert_int_equal(profile->images.count, 4);
	expect_image(profile, 1, "/a: 10-20@0 /a 50-60@0 /child");
	expect_image(profile, 2, "/a: 10-20@0 /a 30-40@0 /parent");
	expect_image(profile, 3, "/a: 10-20@0 /a 50-60@0 /child");
	assert_int_equal(profile->images.items[2].first_mapping,
			 profile->images.items[3].first_mapping);
	assert_int_equal(profile->images.items[2].pid, 3);
	profile_destroy(profile);
	process_table_destroy(table);
}

TEST(each_exec_is_another_image)
{
	struct process_table *table = new_table(false, 1 << 20);
	struct profile *profile;

	map(table, 1, 0x10, 0x20, 0, "/bash");
	forks(table, 1, 2, 100);
	execs(table, 2, 200);
	map(table, 2, 0x10, 0x20, 0, "/cat");
	map(table, 2, 0x70, 0x80, 0, "/libc");
	exits(table, 2, 300);
	assert_int_equal(process_table_find_image(table, 2, 250), 1);
	assert_int_equal(process_table_find_image(table, 2, 150), 2);
	assert_int_equal(process_table_find_image(table, 2, 1000), 1);
	profile = put(table);
	expect_image(profile, 1, "/cat+: 10-20@0 /cat 70-80@0 /libc");
	expect_image(profile, 2, "/bash+: 10-20@0 /bash");
	profile_destroy(profile);
	process_table_destroy(table);
}

TEST(a_number_is_used_again)
{
	struct process_table *table = new_table(false, 1 << 20);
	struct profile *profile;

	map(table, 1, 0x10, 0x20, 0, "/a");
	map(table, 2, 0x10, 0x20, 0, "/old");
	exits(table, 2, 50);
	forks(table, 1, 2, 100);
	assert_int_equal(process_table_find_image(table, 2, 40), 1);
	assert_int_equal(process_table_find_image(table, 2, 100), 2);
	/* A thread of the kernel now, of which nothing is known. */
	exits(table, 2, 110);
	forks(table, 9, 2, 120);
	assert_int_equal(process_table_find_image(table, 2, 130), 0);
	assert_int_equal(process_table_find_image(table, 2, 110), 2);
	profile = put(table);
	expect_image(profile, 1, "/old+: 10-20@0 /old");
	expect_image(profile, 2, "/a+: 10-20@0 /a");
	profile_destroy(profile);
	process_table_destroy(table);
}

TEST(only_those_that_were_asked_for)
{
	struct process_table *table = new_table(true, 1 << 20);

	process_table_begin(table, 1, 0, TEXT("/a"));
	map(table, 1, 0x10, 0x20, 0, "/a");
	map(table, 7, 0x10, 0x20, 0, "/other");
	execs(table, 7, 50);
	forks(table, 7, 8, 60);
	forks(table, 1, 2, 100);
	forks(table, 2, 3, 110);
	execs(table, 3, 120);
	map(table, 3, 0x10, 0x20, 0, "/grandchild");
	exits(table, 2, 130);
	/* A stranger gets the number. */
	forks(table, 7, 2, 140);
	execs(table, 2, 150);
	map(table, 2, 0x10, 0x20, 0, "/other");
	forks(table, 2, 4, 160);
	assert_int_equal(process_table_find_image(table, 7, 200), 0);
	assert_int_equal(process_table_find_image(table, 8, 200), 0);
	assert_int_equal(process_table_find_image(table, 4, 200), 0);
	assert_int_equal(process_table_find_image(table, 2, 200), 0);
	assert_int_equal(process_table_find_image(table, 2, 110), 1);
	assert_int_equal(process_table_find_image(table, 3, 200), 2);
	assert_int_equal(process_table_find_image(table, 1, 0), 3);
	assert_int_equal(process_table_lost(table), 0);
	process_table_destroy(table);
}

TEST(numbers_of_other_namespaces_are_none)
{
	struct process_table *table = new_table(false, 1 << 20);

	map(table, 0, 0x10, 0x20, 0, "/a");
	map(table, UINT32_MAX, 0x10, 0x20, 0, "/a");
	forks(table, 0, UINT32_MAX, 5);
	assert_int_equal(table->count, 0);
	process_table_destroy(table);
}

TEST(each_profile_counts_from_one)
{
	struct process_table *table = new_table(false, 1 << 20);
	struct profile *first, *second;

	map(table, 1, 0x10, 0x20, 0, "/a");
	map(table, 2, 0x10, 0x20, 0, "/b");
	assert_int_equal(process_table_find_image(table, 1, 1), 1);
	first = put(table);
	map(table, 2, 0x30, 0x40, 0, "/c");
	assert_int_equal(process_table_find_image(table, 2, 1), 1);
	assert_int_equal(process_table_find_image(table, 1, 1), 2);
	second = put(table);
	expect_image(first, 1, "/a: 10-20@0 /a");
	assert_int_equal(first->images.count, 1);
	expect_image(second, 1, "/b: 10-20@0 /b 30-40@0 /c");
	expect_image(second, 2, "/a: 10-20@0 /a");
	profile_destroy(first);
	profile_destroy(second);
	process_table_destroy(table);
}

TEST(ended_images_can_be_forgotten)
{
	struct process_table *table = new_table(false, 1 << 20);
	struct profile *profile;

	map(table, 1, 0x10, 0x20, 0, "/a");
	for (uint32_t i = 0; i < 100; i++) {
		forks(table, 1, 10 + i, 100 + i);
		execs(table, 10 + i, 100 + i);
		exits(table, 10 + i, 101 + i);
	}
	map(table, 20, 0x30, 0x40, 0, "/found");
	assert_int_equal(table->count, 201);
	assert_int_equal(process_table_find_image(table, 20, 1000), 1);
	process_table_forget(table, 151);
	/* The parent; of 49 children both and of one the latter; and the one that was found. */
	assert_int_equal(table->count, 1 + 2 * 49 + 1 + 1);
	profile = put(table);
	expect_image(profile, 1, "/found+: 30-40@0 /found");
	process_table_forget(table, 1000);
	assert_int_equal(table->count, 1);
	assert_int_equal(process_table_find_image(table, 1, 5), 1);
	profile_destroy(profile);
	process_table_destroy(table);
}

/* A process that executes itself all the time: looking for its images one after the other would
 * take minutes. */
TEST(a_process_may_have_very_many_images)
{
	enum { IMAGES = 200000, GONE = 150000 };
	struct process_table *table = new_table(false, 256 << 20);

	for (uint32_t i = 1; i <= IMAGES; i++) {
		execs(table, 1, 10 * i);
		map(table, 1, 0x1000, 0x2000, 0, "/a");
	}
	assert_int_equal(process_table_find_image(table, 1, 9), 0);
	process_table_forget(table, 10 * (GONE + 1) + 1);
	assert_int_equal(table->count, IMAGES - GONE);
	assert_int_equal(process_table_find_image(table, 1, 10 * GONE + 9), 0);
	for (uint32_t i = GONE + 1; i <= IMAGES; i++) {
		assert_int_equal(process_table_find_image(table, 1, 10 * i), i - GONE);
		assert_int_equal(process_table_find_image(table, 1, 10 * i + 9), i - GONE);
	}
	process_table_destroy(table);
}

/* Although changes wait: of which no number is lost, nor returned twice. */
TEST(numbers_are_forgotten_too)
{
	enum { NUMBERS = 10000, RETURNED = 9000 };
	struct process_table *table = new_table(false, 64 << 20);
	uint32_t pid;

	for (uint32_t i = 1; i <= NUMBERS; i++) {
		map(table, i, 0x10, 0x20, 0, "/a");
		exits(table, i, i);
	}
	for (uint32_t i = 1; i <= RETURNED; i++) {
		assert_true(process_table_next_changed(table, &pid));
		assert_int_equal(pid, i);
	}
	process_table_forget(table, UINT64_MAX);
	assert_int_equal(table->count, 0);
	assert_int_equal(process_table_count(table), NUMBERS - RETURNED);
	exits(table, NUMBERS, NUMBERS);
	for (uint32_t i = RETURNED + 1; i <= NUMBERS; i++) {
		assert_true(process_table_next_changed(table, &pid));
		assert_int_equal(pid, i);
	}
	assert_false(process_table_next_changed(table, &pid));
	process_table_destroy(table);
}

TEST(memory_is_bounded_and_losses_are_counted)
{
	struct process_table *table = new_table(false, 1 << 20);
	uint64_t at = 0x1000;
	char path[32];

	for (unsigned i = 0; i < 100000; i++, at += 0x1000) {
		snprintf(path, sizeof(path), "/lib%u", i);
		map(table, 1 + i % 3, at, at + 0x1000, 0, path);
		if (i % 10 == 0)
			forks(table, 1 + i % 3, 10 + i, i);
	}
	assert_true(process_table_lost(table) > 50000);
	assert_true(table->count > 10);
	process_table_apply(table,
			    &(struct perf_record){ .kind = PERF_RECORD_OF_LOSS, .lost = 1000000 });
	assert_true(process_table_lost(table) > 1050000);
	process_table_destroy(table);
}

static uint32_t user_of(uint32_t pid)
{
	return pid < 100 ? 0 : pid / 100;
}

/* Names of mappings that are long gone stay, so who makes ever new ones would have all memory. */
TEST(no_user_takes_the_names_of_others)
{
	struct process_table *table = new_table(false, 1 << 20);
	const char *const paths[] = { "/lib/ours", "/lib/users", "/memfd:known" };
	struct profile *profile;
	char path[300];

	process_table_limit_users(table, user_of);
	map(table, 100, 0x1000, 0x2000, 0, paths[2]);
	for (unsigned i = 0; i < 100000; i++) {
		snprintf(path, sizeof(path), "/memfd:%0240u", i);
		map(table, 100 + i % 7, 0x1000, 0x2000, 0, path);
	}
	assert_true(process_table_lost(table) > 90000);
	map(table, 1, 0x1000, 0x2000, 0, paths[0]);
	map(table, 200, 0x1000, 0x2000, 0, paths[1]);
	/* What is there already costs nothing. */
	map(table, 107, 0x1000, 0x2000, 0, paths[2]);
	assert_int_equal(process_table_find_image(table, 1, 1), 1);
	assert_int_equal(process_table_find_image(table, 200, 1), 2);
	assert_int_equal(process_table_find_image(table, 107, 1), 3);
	profile = put(table);
	expect_image(profile, 1, "/lib/ours: 1000-2000@0 /lib/ours");
	expect_image(profile, 2, "/lib/users: 1000-2000@0 /lib/users");
	expect_image(profile, 3, "/memfd:known: 1000-2000@0 /memfd:known");
	profile_destroy(profile);
	process_table_destroy(table);
}

/* Nor with the names of programs that are read, not mapped. */
TEST(no_user_takes_the_programs_of_others)
{
	struct process_table *table = new_table(false, 1 << 20);
	uint64_t lost;
	char path[300];

	process_table_limit_users(table, user_of);
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(path, sizeof(path), "/tmp/%0240u", i);
		process_table_begin(table, 100 + i % 7, i, text_of(path));
		exits(table, 100 + i % 7, i);
	}
	lost = process_table_lost(table);
	map(table, 1, 0x1000, 0x2000, 0, "/lib/ours");
	map(table, 200, 0x1000, 0x2000, 0, "/lib/users");
	assert_int_equal(process_table_lost(table), lost);
	assert_int_equal(process_table_find_image(table, 1, 10000), 1);
	assert_int_equal(process_table_find_image(table, 200, 10000), 2);
	process_table_destroy(table);
}

/* Nor with many mappings, in children that keep what their parent had. */
TEST(no_user_takes_the_mappings_of_others)
{
	struct process_table *table = new_table(false, 4 << 20);

	process_table_limit_users(table, user_of);
	for (uint32_t user = 1; user <= 9; user++)
		for (uint32_t i = 0; i < 60000; i++) {
			const uint64_t at = 0x10000 + (uint64_t)i * 0x2000;

			if (i % 1000 == 0)
				forks(table, user * 100, user * 100 + 1 + i / 1000, i);
			map(table, user * 100, at, at + 0x1000, 0, "/lib");
		}
	assert_true(process_table_lost(table) > 100000);
	for (uint32_t i = 0; i < 5000; i++)
		map(table, 1, i * 0x2000, i * 0x2000 + 0x1000, 0, "/lib");
	assert_int_equal(process_table_find_image(table, 1, 1), 1);
	{
		struct profile *profile = put(table);

		assert_int_equal(profile->images.items[0].mapping_count, 5000);
		profile_destroy(profile);
	}
	process_table_destroy(table);
}

TEST(old_images_make_room_for_new_ones)
{
	struct process_table *table = new_table(false, 1 << 20);
	uint64_t lost;

	map(table, 1, 0x1000, 0x2000, 0, "/sbin/init");
	for (unsigned i = 1; i < 100000; i++) {
		forks(table, 1, 2 + i % 1000, i);
		exits(table, 2 + i % 1000, i);
	}
	lost = process_table_lost(table);
	assert_true(lost > 0);
	map(table, 5000, 0x1000, 0x2000, 0, "/bin/later");
	assert_int_equal(process_table_lost(table), lost);
	assert_int_equal(process_table_find_image(table, 5000, 200000), 1);
	/* The last ones are known, and who is there. */
	assert_int_equal(process_table_find_image(table, 2 + 99999 % 1000, 99999), 2);
	assert_int_equal(process_table_find_image(table, 1, 1), 3);
	process_table_destroy(table);
}

/* --- what is there now --- */

static void expect_changed(struct process_table *table, const uint32_t *pids, size_t count)
{
	uint32_t pid;

	for (size_t i = 0; i < count; i++) {
		assert_true(process_table_next_changed(table, &pid));
		assert_int_equal(pid, pids[i]);
	}
	assert_false(process_table_next_changed(table, &pid));
}
#define expect_changed(table, ...)                                        \
	expect_changed(table, (const uint32_t[]){ 0, ##__VA_ARGS__ } + 1, \
		       sizeof((uint32_t[]){ 0, ##__VA_ARGS__ }) / sizeof(uint32_t) - 1)

TEST(each_change_is_reported_once)
{
	struct process_table *table = new_table(false, 1 << 20);

	expect_changed(table);
	map(table, 1, 0x10, 0x20, 0, "/a");
	map(table, 2, 0x10, 0x20, 0, "/b");
	map(table, 1, 0x30, 0x40, 0, "/a");
	expect_changed(table, 1, 2);
	/* Nothing new. */
	map(table, 1, 0x30, 0x40, 0, "/a");
	expect_changed(table);
	forks(table, 1, 3, 10);
	expect_changed(table, 3);
	execs(table, 3, 20);
	exits(table, 2, 21);
	execs(table, 3, 22);
	expect_changed(table, 3, 2);
	exits(table, 7, 30);
	expect_changed(table);
	/* Nobody asks, and there is no end. */
	for (unsigned i = 0; i < 1000; i++)
		execs(table, 1 + i % 3, 40 + i);
	process_table_forget(table, 2000);
	expect_changed(table, 1, 2, 3);
	process_table_destroy(table);
}

/* Two processes change again and again, so that one always waits. */
TEST(changes_take_memory_while_they_wait)
{
	struct process_table *table = new_table(false, 1 << 20);
	size_t before;
	uint32_t pid;

	map(table, 1, 0x10, 0x20, 0, "/a");
	map(table, 2, 0x10, 0x20, 0, "/a");
	before = allocated_bytes();
	for (int i = 0; i < 1000000; i++) {
		assert_true(process_table_next_changed(table, &pid));
		assert_int_equal(pid, 1 + i % 2);
		process_table_set_changed(table, pid);
	}
	assert_true(allocated_bytes() < before + 4096);
	process_table_destroy(table);
}

TEST(unmapped_ranges_are_not_current)
{
	struct process_table *table = new_table(false, 1 << 20);
	const struct process_image *now;

	assert_null(process_table_now(table, 1));
	map(table, 1, 0x10, 0x20, 0, "/a");
	assert_non_null(now = process_table_now(table, 1));
	assert_int_equal(process_image_now(now)->count, 1);
	assert_false(now->is_over);
	execs(table, 1, 10);
	assert_non_null(now = process_table_now(table, 1));
	assert_null(process_image_now(now));
	assert_int_equal(now->begun_ns, 10);
	exits(table, 1, 20);
	assert_non_null(now = process_table_now(table, 1));
	assert_true(now->is_over);
	process_table_destroy(table);
}

/* What /proc shows of a process: one mapping. */
static void read_one(struct process_table *table, uint32_t pid, uint64_t start, uint64_t end,
		     const char *path, uint64_t pages)
{
	assert_true(process_table_read_begin(table));
	process_table_read_mapping(table, &(struct perf_record){
						  .kind = PERF_RECORD_OF_MAPPING,
						  .pid = pid,
						  .start = start,
						  .end = end,
						  .inode = path[0] == '/',
						  .path = text_of(path),
					  });
	process_table_read_end(table, pid, pages);
}

TEST(read_mappings_are_present_and_names_are_kept)
{
	struct process_table *table = new_table(false, 1 << 20);
	const struct process_image *now, *child;
	struct profile *profile;

	map(table, 1, 0x10, 0x20, 0, "/a");
	map(table, 1, 0x30, 0x40, 0, "/gone");
	expect_changed(table, 1);
	read_one(table, 1, 0x10, 0x20, "/a", 5);
	expect_changed(table);
	assert_non_null(now = process_table_now(table, 1));
	assert_int_equal(process_image_now(now)->count, 1);
	assert_int_equal(process_image_now(now)->items[0].start, 0x10);
	assert_int_equal(now->exec_pages, 5);
	/* A child has the same. */
	forks(table, 1, 2, 10);
	assert_non_null(child = process_table_now(table, 2));
	assert_ptr_equal(process_image_now(child), process_image_now(now));
	assert_int_equal(child->exec_pages, 5);
	/* From now on nobody knows how many pages. */
	map(table, 1, 0x50, 0x60, 0, "/more");
	assert_non_null(now = process_table_now(table, 1));
	assert_int_equal(process_image_now(now)->count, 2);
	assert_int_equal(now->exec_pages, 0);
	assert_non_null(child = process_table_now(table, 2));
	assert_int_equal(process_image_now(child)->count, 1);
	assert_int_equal(child->exec_pages, 5);

	assert_int_equal(process_table_find_image(table, 1, 20), 1);
	profile = put(table);
	expect_image(profile, 1, "/a: 10-20@0 /a 30-40@0 /gone 50-60@0 /more");
	profile_destroy(profile);
	/* One that is not there any more is gone for good. */
	read_one(table, 9, 0x10, 0x20, "/a", 5);
	assert_null(process_table_now(table, 9));
	process_table_destroy(table);
}

TEST(a_mark_is_for_descendants_too)
{
	struct process_table *table = new_table(false, 1 << 20);
	const struct process_image *now;

	map(table, 1, 0x10, 0x20, 0, "/a");
	map(table, 7, 0x10, 0x20, 0, "/other");
	process_table_mark(table, 1);
	forks(table, 1, 2, 10);
	exits(table, 1, 11);
	execs(table, 2, 20);
	map(table, 2, 0x10, 0x20, 0, "/b");
	forks(table, 2, 3, 30);
	assert_true((now = process_table_now(table, 3)) && now->is_marked);
	assert_true((now = process_table_now(table, 2)) && now->is_marked);
	/* The number is another's. */
	forks(table, 7, 1, 40);
	assert_true((now = process_table_now(table, 1)) && !now->is_marked);
	forks(table, 1, 4, 50);
	assert_true((now = process_table_now(table, 4)) && !now->is_marked);
	process_table_destroy(table);
}

UNIT_TESTS(cmocka_unit_test(no_user_takes_the_names_of_others),
	   cmocka_unit_test(no_user_takes_the_programs_of_others),
	   cmocka_unit_test(no_user_takes_the_mappings_of_others),
	   cmocka_unit_test(old_images_make_room_for_new_ones),
	   cmocka_unit_test(each_change_is_reported_once),
	   cmocka_unit_test(changes_take_memory_while_they_wait),
	   cmocka_unit_test(unmapped_ranges_are_not_current),
	   cmocka_unit_test(read_mappings_are_present_and_names_are_kept),
	   cmocka_unit_test(a_mark_is_for_descendants_too),
	   cmocka_unit_test(the_later_mapping_wins),
	   cmocka_unit_test(nameless_memory_grows_together),
	   cmocka_unit_test(many_mappings_agree_with_a_model),
	   cmocka_unit_test(a_child_has_the_mappings_of_its_parent_at_the_fork),
	   cmocka_unit_test(each_exec_is_another_image), cmocka_unit_test(a_number_is_used_again),
	   cmocka_unit_test(only_those_that_were_asked_for),
	   cmocka_unit_test(numbers_of_other_namespaces_are_none),
	   cmocka_unit_test(each_profile_counts_from_one),
	   cmocka_unit_test(ended_images_can_be_forgotten),
	   cmocka_unit_test(a_process_may_have_very_many_images),
	   cmocka_unit_test(numbers_are_forgotten_too),
	   cmocka_unit_test(memory_is_bounded_and_losses_are_counted))
