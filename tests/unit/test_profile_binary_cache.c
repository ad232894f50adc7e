/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/binary_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit/unit.h"

#define OWN "/proc/self/exe"

static struct profile_mapping mapping_of(char id)
{
	return (struct profile_mapping){ .build_id_length = 20, .build_id = { (unsigned char)id } };
}

static struct symbol_binary opened(const char *path, uint64_t *work)
{
	struct symbol_binary ret = SYMBOL_BINARY_CLOSED;
	const struct binary_options options = { .inlined_work = work };

	ret.origin.fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(ret.origin.fd >= 0);
	assert_int_equal(binary_open(ret.origin.fd, &options, &ret.binary), 0);
	return ret;
}

static void put(struct binary_cache *cache, char id)
{
	struct profile_mapping mapping = mapping_of(id);
	struct symbol_binary binary = opened(OWN, NULL);

	binary_cache_put(cache, &mapping, &binary);
	assert_null(binary.binary);
	assert_int_equal(binary.origin.fd, -1);
}

static bool is_there(struct binary_cache *cache, char id)
{
	struct profile_mapping mapping = mapping_of(id);
	struct symbol_binary binary = SYMBOL_BINARY_CLOSED;

	if (!binary_cache_take(cache, &mapping, &binary))
		return false;
	assert_true(binary_is_current(binary.binary));
	binary_cache_put(cache, &mapping, &binary);
	return true;
}

TEST(what_was_not_used_for_the_longest_time_is_closed_first)
{
	struct binary_cache *cache = binary_cache_create(SIZE_MAX);
	size_t bytes;

	put(cache, 1);
	bytes = binary_cache_bytes(cache);
	assert_true(bytes > 0);
	binary_cache_destroy(cache);

	cache = binary_cache_create(3 * bytes);
	put(cache, 1);
	put(cache, 2);
	put(cache, 3);
	assert_true(is_there(cache, 1));
	put(cache, 4);
	assert_int_equal(binary_cache_count(cache), 3);
	assert_int_equal(binary_cache_bytes(cache), 3 * bytes);
	assert_false(is_there(cache, 2));
	assert_true(is_there(cache, 1));
	assert_true(is_there(cache, 3));
	assert_true(is_there(cache, 4));
	/* Once more the same one. */
	put(cache, 4);
	assert_int_equal(binary_cache_count(cache), 3);
	binary_cache_forget_old(cache);
	assert_int_equal(binary_cache_count(cache), 3);
	binary_cache_destroy(cache);
}

TEST(one_that_is_larger_than_all_may_be_is_closed)
{
	struct binary_cache *cache = binary_cache_create(1000);

	put(cache, 1);
	assert_int_equal(binary_cache_count(cache), 0);
	assert_int_equal(binary_cache_bytes(cache), 0);
	assert_false(is_there(cache, 1));
	binary_cache_destroy(cache);
}

TEST(descriptors_are_bounded)
{
	struct binary_cache *cache = binary_cache_create(SIZE_MAX);

	for (int i = 0; i < BINARY_CACHE_FILES + 10; i++)
		put(cache, (char)i);
	assert_int_equal(binary_cache_count(cache), BINARY_CACHE_FILES);
	assert_false(is_there(cache, 9));
	assert_true(is_there(cache, 10));
	binary_cache_destroy(cache);
}

/* At one address of this program: its name and the functions inlined there. */
static void expect_found(struct binary *binary, uint64_t address, struct binary_found *ret)
{
	const struct dwarf_addresses addresses = { &address, 1 };

	binary_prepare(binary, &addresses);
	assert_true(binary_find(binary, address, ret));
}

TEST(what_is_found_stays_the_same)
{
	struct binary_cache *cache = binary_cache_create(SIZE_MAX);
	struct profile_mapping mapping = mapping_of(1);
	uint64_t work = INLINED_WORK_MAX;
	struct symbol_binary binary = opened(OWN, &work);
	const struct symbol_binary first = binary;
	struct binary_found before, after;
	uint64_t address = 0;

	/* Any function of it. */
	for (uint64_t offset = 0; offset < (uint64_t)1 << 30; offset += 4096)
		if (binary_address(binary.binary, offset, 0, &address) &&
		    binary_find(binary.binary, address, &before))
			break;
	binary_release(binary.binary);
	for (unsigned i = 0; i < 3; i++) {
		work = INLINED_WORK_MAX;
		binary_restart(binary.binary, &work);
		expect_found(binary.binary, address, &after);
		assert_string_equal(before.name, after.name);
		assert_int_equal(before.start, after.start);
		assert_int_equal(before.inlined.count, after.inlined.count);
		binary_cache_put(cache, &mapping, &binary);
		assert_true(binary_cache_take(cache, &mapping, &binary));
		assert_ptr_equal(binary.binary, first.binary);
	}
	symbol_binary_close(&binary);
	binary_cache_destroy(cache);
}

TEST(a_file_that_was_written_is_not_current)
{
	struct scratch scratch;
	const char *path;
	char copy[512];
	struct symbol_binary binary;

	scratch_init(&scratch);
	path = scratch_path(&scratch, "program");
	snprintf(copy, sizeof(copy), "cp /proc/%d/exe %s", getpid(), path);
	assert_int_equal(system(copy), 0);
	binary = opened(path, NULL);
	assert_true(binary_is_current(binary.binary));
	assert_int_equal(truncate(path, 100), 0);
	assert_false(binary_is_current(binary.binary));
	symbol_binary_close(&binary);
	scratch_deinit(&scratch);
}

UNIT_TESTS(cmocka_unit_test(what_was_not_used_for_the_longest_time_is_closed_first),
	   cmocka_unit_test(one_that_is_larger_than_all_may_be_is_closed),
	   cmocka_unit_test(descriptors_are_bounded),
	   cmocka_unit_test(what_is_found_stays_the_same),
	   cmocka_unit_test(a_file_that_was_written_is_not_current))
