/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/cache.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit/made_table.h"
#include "unwind/table_file.h"

#define ID        TEXT("\x12\x34\xab\xff")
#define ID_FILE   "cache/1234abff.unwind"
#define OTHER_ID  TEXT("\x01")
#define ELSE_FILE "cache/01.unwind"

struct place {
	struct scratch scratch;
	struct unwind_cache *cache;
	struct unwind_table table;
};

static struct place *place;

static const char *path_of(const char *name)
{
	return scratch_path(&place->scratch, name);
}

static int set(void **state)
{
	uint64_t seed = 4;

	(void)state;
	place = calloc(1, sizeof(*place));
	scratch_init(&place->scratch);
	expect_ok(unwind_cache_open_at(path_of("cache"), &place->cache));
	place->table = made_random(&seed, 5, NULL);
	return 0;
}

static int clear(void **state)
{
	(void)state;
	unwind_cache_close(place->cache);
	scratch_deinit(&place->scratch);
	unwind_table_deinit(&place->table);
	free(place);
	return 0;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set, clear)

static struct stat status(const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(place->scratch.dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st;
}

static bool exists(const char *name)
{
	return !faccessat(place->scratch.dir, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

static bool reads(struct text id, const struct unwind_table *expected)
{
	struct unwind_table table = { .base = 0x77 };
	bool read = unwind_cache_read(place->cache, id, &table);

	if (!read) {
		assert_int_equal(table.base, 0x77);
		assert_null(table.words.items);
		return false;
	}
	assert_true(made_equal(&table, expected));
	unwind_table_deinit(&table);
	return true;
}

/* --- what is written is read --- */

TEST(a_table_comes_back)
{
	struct stat st;

	assert_false(reads(ID, NULL));
	unwind_cache_write(place->cache, ID, &place->table);
	assert_true(reads(ID, &place->table));
	assert_false(reads(OTHER_ID, NULL));
	st = status(ID_FILE);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(status("cache").st_mode, S_IFDIR | 0700);
	unwind_cache_close(place->cache);
	expect_ok(unwind_cache_open_at(path_of("cache"), &place->cache));
	assert_true(reads(ID, &place->table));
}

TEST(a_table_without_anything_comes_back)
{
	const struct unwind_table none = { 0 };

	unwind_cache_write(place->cache, ID, &none);
	assert_true(reads(ID, &none));
}

TEST(the_last_one_counts)
{
	const struct unwind_table none = { 0 };

	unwind_cache_write(place->cache, ID, &none);
	unwind_cache_write(place->cache, ID, &place->table);
	assert_true(reads(ID, &place->table));
}

TEST(build_ids_of_all_lengths)
{
	char bytes[UNWIND_BUILD_ID_BYTES_MAX + 1];

	memset(bytes, 0xee, sizeof(bytes));
	for (size_t length = 0; length <= sizeof(bytes); length++) {
		struct text id = { bytes, length };

		unwind_cache_write(place->cache, id, &place->table);
		assert_int_equal(reads(id, &place->table), length && length < sizeof(bytes));
	}
}

TEST(without_a_cache)
{
	struct unwind_table table;

	unwind_cache_write(NULL, ID, &place->table);
	assert_false(unwind_cache_read(NULL, ID, &table));
	unwind_cache_close(NULL);
}

/* --- what is broken, or of something else --- */

static struct text file_of(const struct unwind_table *table)
{
	struct sunk sunk = { 0 };

	expect_ok(unwind_table_write(table, ID, sunk_write, &sunk));
	return sunk_text(&sunk);
}

/* A table of one block and some rows. */
static struct unwind_table small(void)
{
	struct unwind_table table = { .base = 0x30000, .functions = 2 };
	uint32_t rule = made_rule(&table, (struct unwind_rule){ .kind = UNWIND_RULE_FRAME,
								.cfa_offset = 8,
								.ra = UNWIND_AT_CFA,
								.ra_offset = -1 });

	made_block(&table, NULL, 0);
	made_block(&table, (struct made_row[]){ { 0, 0 }, { 16, rule }, { 300, 1 } }, 3);
	return table;
}

static bool parses(struct text bytes)
{
	struct text copy = guarded(bytes.bytes, bytes.length);
	struct unwind_table table;
	bool parsed = unwind_table_parse(copy, ID, &table);

	if (parsed)
		unwind_table_deinit(&table);
	unguard(copy);
	return parsed;
}

TEST(each_changed_byte_is_seen)
{
	struct unwind_table table = small();
	struct text file = file_of(&table);
	char *bytes = (char *)(uintptr_t)file.bytes;

	assert_true(parses(file));
	for (size_t i = 0; i < file.length; i++)
		for (int bit = 0; bit < 8; bit++) {
			bytes[i] = (char)(bytes[i] ^ 1 << bit);
			assert_false(parses(file));
			bytes[i] = (char)(bytes[i] ^ 1 << bit);
		}
	free(bytes);
	unwind_table_deinit(&table);
}

TEST(a_file_of_another_length)
{
	struct unwind_table table = small();
	struct text file = file_of(&table);
	char *longer = calloc(1, file.length + 1);

	for (size_t length = 0; length < file.length; length++)
		assert_false(parses((struct text){ file.bytes, length }));
	memcpy(longer, file.bytes, file.length);
	assert_false(parses((struct text){ longer, file.length + 1 }));
	free(longer);
	free((char *)(uintptr_t)file.bytes);
	unwind_table_deinit(&table);
}

/* The name of a file is no proof. */
TEST(the_table_of_another_file)
{
	unwind_cache_write(place->cache, ID, &place->table);
	assert_int_equal(renameat(place->scratch.dir, ID_FILE, place->scratch.dir, ELSE_FILE), 0);
	assert_false(reads(OTHER_ID, NULL));
}

/* A checksum that is right does not make the numbers right. */
static bool parses_with(void (*spoil)(struct unwind_table *table, uint32_t *block))
{
	struct unwind_table table = small();
	struct text file;
	bool parsed;

	spoil(&table, table.words.items);
	file = file_of(&table);
	parsed = parses(file);
	assert_int_equal(parsed, unwind_table_is_sound(&table));
	free((char *)(uintptr_t)file.bytes);
	unwind_table_deinit(&table);
	return parsed;
}

#define SPOIL(name, what)                                                    \
	static void name(struct unwind_table *table __attribute__((unused)), \
			 uint32_t *block __attribute__((unused)))            \
	{                                                                    \
		what;                                                        \
	}
#define RULE   table->rules.items[0]
#define ROW(i) block[UNWIND_BLOCK_HEAD + (i)]

SPOIL(unspoilt, (void)0)
SPOIL(base_between, table->base += 4096)
SPOIL(block_beyond, table->blocks.items[1] = 1)
SPOIL(block_far_beyond, table->blocks.items[1] = UNWIND_POINTER_BLOCK - 1)
SPOIL(blocks_overlap, table->blocks.items[0] = 0)
SPOIL(too_few_words, table->words.count--)
SPOIL(no_rows, block[128] = 0)
SPOIL(more_rows, block[128] = 4)
SPOIL(fewer_rows, block[128] = 2)
SPOIL(rows_before_the_first, block[0] |= 1)
SPOIL(first_page_empty, block[0] &= 0xffff)
SPOIL(pages_fall, block[5] = 0x00020003)
SPOIL(page_beyond, block[5] = 0xffff0003)
SPOIL(first_row_late, ROW(0) |= 1u << 24)
SPOIL(rows_fall, ROW(0) = ROW(1))
SPOIL(no_such_rule, ROW(1) = (ROW(1) & 0xff000000) | 5)
SPOIL(kind, RULE.kind = UNWIND_RULE_FRAME + 1)
SPOIL(flags, RULE.flags = 8)
SPOIL(base, RULE.base = UNWIND_BASE_OTHER + 1)
SPOIL(plt_number, RULE.number = 17)
SPOIL(other_number, (RULE.base = UNWIND_BASE_OTHER, RULE.number = 32))
SPOIL(ra_nowhere, RULE.ra = UNWIND_SAME)
SPOIL(ra_unknown, RULE.ra = UNWIND_UNKNOWN)
SPOIL(bp_in_register, RULE.bp = UNWIND_IN_REG)
SPOIL(bp_beyond, RULE.bp = UNWIND_UNKNOWN + 1)
SPOIL(bx_in_register, RULE.bx = UNWIND_IN_REG)
SPOIL(bx_beyond, RULE.bx = UNWIND_UNKNOWN + 1)
SPOIL(unused_byte, RULE.unused = 1)

TEST(numbers_are_not_believed)
{
	static void (*const spoilers[])(struct unwind_table *, uint32_t *) = {
		base_between,
		block_beyond,
		block_far_beyond,
		blocks_overlap,
		too_few_words,
		no_rows,
		more_rows,
		fewer_rows,
		rows_before_the_first,
		first_page_empty,
		pages_fall,
		page_beyond,
		first_row_late,
		rows_fall,
		no_such_rule,
		kind,
		flags,
		base,
		plt_number,
		other_number,
		ra_nowhere,
		ra_unknown,
		bp_in_register,
		bp_beyond,
		bx_in_register,
		bx_beyond,
		unused_byte,
	};

	assert_true(parses_with(unspoilt));
	for (size_t i = 0; i < array_length(spoilers); i++)
		if (parses_with(spoilers[i]))
			fail_msg("spoiler %zu is believed", i);
}

/* --- whose it is --- */

TEST(files_that_others_may_write)
{
	unwind_cache_write(place->cache, ID, &place->table);
	for (mode_t mode = 020; mode; mode = mode == 020 ? 002 : 0) {
		assert_int_equal(fchmodat(place->scratch.dir, ID_FILE, 0600 | mode, 0), 0);
		assert_false(reads(ID, NULL));
	}
	assert_int_equal(fchmodat(place->scratch.dir, ID_FILE, 0644, 0), 0);
	assert_true(reads(ID, &place->table));
}

TEST(files_of_another_user)
{
	if (geteuid() != 0)
		skip();
	unwind_cache_write(place->cache, ID, &place->table);
	assert_int_equal(fchownat(place->scratch.dir, ID_FILE, 12345, 12345, 0), 0);
	assert_false(reads(ID, NULL));
	/* It is made again, and is ours then. */
	unwind_cache_write(place->cache, ID, &place->table);
	assert_true(reads(ID, &place->table));
}

TEST(other_file_types)
{
	unwind_cache_write(place->cache, OTHER_ID, &place->table);
	assert_int_equal(symlinkat("01.unwind", place->scratch.dir, ID_FILE), 0);
	assert_false(reads(ID, NULL));
	/* A link is replaced, and not what it leads to. */
	unwind_cache_write(place->cache, ID, &(struct unwind_table){ 0 });
	assert_true(S_ISREG(status(ID_FILE).st_mode));
	assert_true(reads(OTHER_ID, &place->table));
	unlinkat(place->scratch.dir, ID_FILE, 0);
	assert_int_equal(mkfifoat(place->scratch.dir, ID_FILE, 0600), 0);
	assert_false(reads(ID, NULL));
	unlinkat(place->scratch.dir, ID_FILE, 0);
	assert_int_equal(mkdirat(place->scratch.dir, ID_FILE, 0700), 0);
	assert_false(reads(ID, NULL));
	unwind_cache_write(place->cache, ID, &place->table);
	unlinkat(place->scratch.dir, ID_FILE, AT_REMOVEDIR);
}

static void expect_refused(const char *name, const char *message)
{
	struct unwind_cache *cache = NULL;

	expect_error(unwind_cache_open_at(path_of(name), &cache), message);
	assert_null(cache);
}

TEST(directories_that_are_not_safe)
{
	assert_int_equal(fchmodat(place->scratch.dir, "cache", 0720, 0), 0);
	expect_refused("cache", "writable by others");
	assert_int_equal(fchmodat(place->scratch.dir, "cache", 0702, 0), 0);
	expect_refused("cache", "writable by others");
	assert_int_equal(fchmodat(place->scratch.dir, "cache", 0755, 0), 0);
	assert_int_equal(symlinkat("cache", place->scratch.dir, "link"), 0);
	expect_refused("link", "link");
	scratch_write(&place->scratch, "file", TEXT("x"));
	expect_refused("file", "Not a directory");
	expect_refused("nowhere/cache", "No such file");
	if (geteuid() != 0)
		return;
	assert_int_equal(fchownat(place->scratch.dir, "cache", 12345, 12345, 0), 0);
	expect_refused("cache", "owned by another user");
	assert_int_equal(fchownat(place->scratch.dir, "cache", 0, 0, 0), 0);
}

/* --- where it is --- */

static void expect_opens(const char *expected)
{
	struct unwind_cache *cache;

	expect_ok(unwind_cache_open(&cache));
	unwind_cache_write(cache, ID, &place->table);
	assert_true(exists(expected));
	unwind_cache_close(cache);
}

TEST(it_is_in_the_home)
{
	assert_int_equal(mkdirat(place->scratch.dir, "home", 0755), 0);
	assert_int_equal(mkdirat(place->scratch.dir, "caches", 0755), 0);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", path_of("home"), 1);
	expect_opens("home/.cache/ctprof/unwind/1234abff.unwind");
	assert_int_equal(status("home/.cache").st_mode, S_IFDIR | 0700);
	assert_int_equal(status("home/.cache/ctprof").st_mode, S_IFDIR | 0700);
	assert_int_equal(status("home/.cache/ctprof/unwind").st_mode, S_IFDIR | 0700);
	setenv("XDG_CACHE_HOME", path_of("caches"), 1);
	expect_opens("caches/ctprof/unwind/1234abff.unwind");
	unlinkat(place->scratch.dir, "home/.cache/ctprof/unwind/1234abff.unwind", 0);
	setenv("XDG_CACHE_HOME", "caches", 1);
	expect_opens("home/.cache/ctprof/unwind/1234abff.unwind");
}

/* In another process, which becomes `user` in the home: what its unwind_cache_open says. 0: it
 * opened; 1: it failed; 2: it cannot be tried. */
static int opened_by(uid_t user, bool has_private_var)
{
	pid_t child = fork();
	int ended;

	if (child == 0) {
		struct unwind_cache *cache = NULL;
		struct error *err;

		if (has_private_var &&
		    (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		     mount("none", "/var/cache", "tmpfs", 0, "mode=755")))
			_exit(2);
		if (user != geteuid() && seteuid(user))
			_exit(2);
		err = unwind_cache_open(&cache);
		if (!err && has_private_var && access("/var/cache/ctprof/unwind", F_OK))
			_exit(3);
		unwind_cache_close(cache);
		_exit(err ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_true(WIFEXITED(ended));
	return WEXITSTATUS(ended);
}

TEST(a_home_of_another_user_is_unchanged)
{
	int opened;

	if (geteuid() != 0)
		skip();
	unsetenv("XDG_CACHE_HOME");
	assert_int_equal(chmod(place->scratch.path, 0755), 0);
	assert_int_equal(mkdirat(place->scratch.dir, "home", 0777), 0);
	assert_int_equal(fchmodat(place->scratch.dir, "home", 0777, 0), 0);
	setenv("HOME", path_of("home"), 1);
	assert_int_equal(opened_by(12345, false), 1);
	assert_false(exists("home/.cache"));
	/* Root has a place of its own then. */
	assert_int_equal(fchownat(place->scratch.dir, "home", 12345, 12345, 0), 0);
	opened = opened_by(0, true);
	assert_false(exists("home/.cache"));
	if (opened == 2)
		skip();
	assert_int_equal(opened, 0);
	assert_int_equal(opened_by(12345, false), 0);
	assert_int_equal(status("home/.cache").st_uid, 12345);
	opened = opened_by(0, true);
	assert_int_equal(opened, 0);
}

/* --- no more than fits --- */

static void old_file(const char *name, size_t bytes, time_t when)
{
	const struct timespec times[2] = { { .tv_sec = when }, { .tv_sec = when } };
	int fd = openat(place->scratch.dir, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	/* With holes: it takes no room. */
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

TEST(the_oldest_go)
{
	const size_t third = UNWIND_CACHE_BYTES / 3;

	old_file("cache/aa.unwind", third, 1000);
	old_file("cache/bb.unwind", third, 3000);
	old_file("cache/.cc.unwind.12.tmp", third, 2000);
	old_file("cache/of the user", third, 500);
	/* Nearly full is not too full. */
	unwind_cache_close(place->cache);
	expect_ok(unwind_cache_open_at(path_of("cache"), &place->cache));
	old_file("cache/.cc.unwind.12.tmp", third - (1 << 20), 2000);
	unwind_cache_write(place->cache, ID, &(struct unwind_table){ 0 });
	assert_int_equal(scratch_count(&place->scratch), 1);
	assert_true(exists("cache/aa.unwind") && exists("cache/.cc.unwind.12.tmp"));
	/* One that came from another process, which the next to come counts. */
	unwind_cache_close(place->cache);
	expect_ok(unwind_cache_open_at(path_of("cache"), &place->cache));
	old_file("cache/dd.unwind", third, 4000);
	unwind_cache_write(place->cache, OTHER_ID, &place->table);
	assert_false(exists("cache/aa.unwind") || exists("cache/.cc.unwind.12.tmp"));
	assert_true(exists("cache/bb.unwind") && exists("cache/dd.unwind"));
	assert_true(exists("cache/of the user"));
	assert_true(reads(ID, &(struct unwind_table){ 0 }));
	assert_true(reads(OTHER_ID, &place->table));
}

TEST(a_read_file_is_recent)
{
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	unwind_cache_write(place->cache, ID, &place->table);
	assert_int_equal(utimensat(place->scratch.dir, ID_FILE, old, 0), 0);
	assert_int_equal(status(ID_FILE).st_mtim.tv_sec, 1000);
	assert_true(reads(ID, &place->table));
	assert_true(status(ID_FILE).st_mtim.tv_sec > 1000);
}

/* --- several at once --- */

static void *write_and_read(void *seed)
{
	struct unwind_table table;

	for (int i = 0; i < 40; i++) {
		unwind_cache_write(place->cache, ID, &place->table);
		if (!unwind_cache_read(place->cache, ID, &table))
			return seed;
		if (!made_equal(&table, &place->table))
			return seed;
		unwind_table_deinit(&table);
	}
	return NULL;
}

TEST(threads_and_processes_write_the_same)
{
	pthread_t threads[3];
	pid_t child = fork();
	void *failed = NULL;
	int ended;

	if (child == 0)
		_exit(write_and_read(place) != NULL);
	for (size_t i = 0; i < array_length(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_and_read, place), 0);
	for (size_t i = 0; i < array_length(threads); i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_int_equal(ended, 0);
	assert_true(reads(ID, &place->table));
	unlinkat(place->scratch.dir, ID_FILE, 0);
	/* Nothing else is left there. */
	assert_int_equal(unlinkat(place->scratch.dir, "cache", AT_REMOVEDIR), 0);
}

UNIT_TESTS(CASE(a_table_comes_back), CASE(a_table_without_anything_comes_back),
	   CASE(the_last_one_counts), CASE(build_ids_of_all_lengths), CASE(without_a_cache),
	   CASE(each_changed_byte_is_seen), CASE(a_file_of_another_length),
	   CASE(the_table_of_another_file), CASE(numbers_are_not_believed),
	   CASE(files_that_others_may_write), CASE(files_of_another_user), CASE(other_file_types),
	   CASE(directories_that_are_not_safe), CASE(it_is_in_the_home),
	   CASE(a_home_of_another_user_is_unchanged), CASE(the_oldest_go),
	   CASE(a_read_file_is_recent), CASE(threads_and_processes_write_the_same))
