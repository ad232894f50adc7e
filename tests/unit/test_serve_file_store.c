/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/file_store.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/unit.h"

#define MIB ((uint64_t)1 << 20)

static struct uploaded_file *begin(struct file_store *store, uint64_t bytes)
{
	struct uploaded_file *file = NULL;

	expect_ok(file_store_begin(store, "name", bytes, &file));
	return file;
}

/* One that is whole; its bytes need not be there for that. */
static struct uploaded_file *keep(struct file_store *store, uint64_t bytes)
{
	struct uploaded_file *file = begin(store, bytes);

	file->written = bytes;
	assert_true(kept_file_is_whole(file));
	return file;
}

static bool has(const struct file_store *store, const char *id)
{
	return file_store_find(store, text_of(id), FILE_SENT) != NULL;
}

TEST(files)
{
	struct file_store store = { 0 };
	struct uploaded_file *file;
	char bytes[8];

	expect_ok(file_store_begin(&store, "a\nb", 5, &file));
	assert_string_equal(file->name, "a?b");
	assert_int_equal(strlen(file->id), 32);
	expect_ok(kept_file_write(file, TEXT("he")));
	assert_false(kept_file_is_whole(file));
	assert_false(has(&store, file->id));
	expect_ok(kept_file_write(file, TEXT("llo")));
	expect_error(kept_file_write(file, TEXT("!")), "more bytes");
	assert_true(kept_file_is_whole(file));
	assert_ptr_equal(file_store_find(&store, text_of(file->id), FILE_SENT), file);
	assert_null(file_store_find(&store, text_of(file->id), FILE_PAGE));
	assert_int_equal(pread(file->fd, bytes, sizeof(bytes), 0), 5);
	assert_memory_equal(bytes, "hello", 5);
	assert_false(has(&store, ""));
	assert_false(has(&store, "00000000000000000000000000000000"));
	assert_null(file_store_find(&store, (struct text){ file->id, 31 }, FILE_SENT));
	file_store_drop(&store, file);
	assert_int_equal(store.count, 0);
	assert_int_equal(store.bytes, 0);
}

TEST(names)
{
	struct file_store store = { 0 };
	char name[1000];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < 2; i++) {
		struct uploaded_file *file;

		expect_ok(file_store_begin(&store, i ? name : "", 1, &file));
		assert_int_equal(strlen(file->name), i ? FILE_NAME_SIZE - 1 : strlen("file"));
	}
	file_store_deinit(&store);
}

TEST(pages)
{
	struct file_store store = { 0 };
	struct uploaded_file *page;
	const int fd = memfd_create("page", MFD_CLOEXEC);

	assert_int_equal(write(fd, "page", 4), 4);
	expect_ok(file_store_add_page(&store, fd, &page));
	assert_int_equal(page->bytes, 4);
	assert_ptr_equal(file_store_find(&store, text_of(page->id), FILE_PAGE), page);
	assert_null(file_store_find(&store, text_of(page->id), FILE_SENT));
	file_store_deinit(&store);
}

/* The oldest makes room, unless it is being sent or used. */
TEST(bytes_are_limited)
{
	struct file_store store = { 0 };
	struct uploaded_file *used = keep(&store, 40 * MIB), *sent = begin(&store, 40 * MIB), *last;
	char oldest[FILE_ID_SIZE];

	used->users++;
	memcpy(oldest, keep(&store, 40 * MIB)->id, sizeof(oldest));
	assert_true(has(&store, oldest));
	last = keep(&store, 20 * MIB);
	assert_false(has(&store, oldest));
	assert_int_equal(store.bytes, 140 * MIB - 40 * MIB);
	expect_error(file_store_begin(&store, "", 49 * MIB, &last), "all files are in use");
	used->users--;
	last = begin(&store, 64 * MIB);
	assert_int_equal(store.count, 2);
	file_store_drop(&store, sent);
	file_store_drop(&store, last);
	assert_int_equal(store.bytes, 0);
}

TEST(files_are_limited)
{
	struct file_store store = { 0 };
	char first[FILE_ID_SIZE];

	memcpy(first, keep(&store, 1)->id, sizeof(first));
	for (int i = 1; i < FILE_STORE_FILES; i++)
		keep(&store, 1);
	assert_true(has(&store, first));
	keep(&store, 1);
	assert_false(has(&store, first));
	assert_int_equal(store.count, FILE_STORE_FILES);
	file_store_deinit(&store);
}

UNIT_TESTS(cmocka_unit_test(files), cmocka_unit_test(names), cmocka_unit_test(pages),
	   cmocka_unit_test(bytes_are_limited), cmocka_unit_test(files_are_limited))
