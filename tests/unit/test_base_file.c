/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/unit.h"

typedef int (*reader)(int dir, const char *path, struct file_buffer *buffer, struct text *ret);

static char *numbered(size_t length)
{
	char *bytes = malloc(length + 1);

	assert_non_null(bytes);
	for (size_t i = 0; i < length; i++)
		bytes[i] = (char)(i * 31 + i / 256);
	return bytes;
}

static void check_size(const struct scratch *scratch, struct file_buffer *buffer, size_t length)
{
	static const reader readers[] = { file_read, file_read_record };
	_cleanup_free_ char *bytes = numbered(length);

	scratch_write(scratch, "file", (struct text){ bytes, length });
	for (size_t i = 0; i < array_length(readers); i++) {
		struct text got = TEXT("untouched");

		assert_int_equal(readers[i](scratch->dir, "file", buffer, &got), 0);
		assert_int_equal(got.length, length);
		assert_memory_equal(got.bytes, bytes, length);
	}
}

/* Around the sizes at which the buffer grows, in one buffer, small after large too. */
TEST(every_size_comes_whole)
{
	static const size_t sizes[] = { 0,     1,     4096,    8191,   8192, 8193, 16383,
					16384, 16385, 1 << 20, 100000, 5,    0 };
	struct file_buffer buffer = { 0 };
	struct scratch scratch;

	scratch_init(&scratch);
	for (size_t i = 0; i < array_length(sizes); i++)
		check_size(&scratch, &buffer, sizes[i]);
	file_buffer_deinit(&buffer);
	assert_null(buffer.bytes);
	scratch_deinit(&scratch);
}

TEST(the_largest_comes_whole)
{
	struct file_buffer buffer = { 0 };
	struct scratch scratch;

	scratch_init(&scratch);
	check_size(&scratch, &buffer, FILE_READ_MAX - 1);
	check_size(&scratch, &buffer, FILE_READ_MAX);
	file_buffer_deinit(&buffer);
	scratch_deinit(&scratch);
}

TEST(larger_is_efbig)
{
	_cleanup_free_ char *bytes = numbered(FILE_READ_MAX + 1);
	struct file_buffer buffer = { 0 };
	struct text got = TEXT("untouched");
	struct scratch scratch;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", (struct text){ bytes, FILE_READ_MAX + 1 });
	assert_int_equal(file_read(scratch.dir, "file", &buffer, &got), EFBIG);
	/* Again, with a buffer that has grown already. */
	assert_int_equal(file_read(scratch.dir, "file", &buffer, &got), EFBIG);
	expect_text(got, "untouched");
	file_buffer_deinit(&buffer);
	scratch_deinit(&scratch);
}

/* A pipe of packets gives one at a time, however much is asked for: as /proc gives its pages. */
static void open_packets(int ends[2], char path[32])
{
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_DIRECT), 0);
	assert_int_equal(write(ends[1], "one,", 4), 4);
	assert_int_equal(write(ends[1], "two,", 4), 4);
	assert_int_equal(write(ends[1], "three", 5), 5);
	close(ends[1]);
	snprintf(path, 32, "/proc/self/fd/%d", ends[0]);
}

TEST(short_reads_are_joined)
{
	struct file_buffer buffer = { 0 };
	struct text got;
	char path[32];
	int ends[2];

	open_packets(ends, path);
	assert_int_equal(file_read(AT_FDCWD, path, &buffer, &got), 0);
	expect_text(got, "one,two,three");
	close(ends[0]);
	file_buffer_deinit(&buffer);
}

TEST(a_record_is_one_read)
{
	struct file_buffer buffer = { 0 };
	struct text got;
	char path[32];
	int ends[2];

	open_packets(ends, path);
	assert_int_equal(file_read_record(AT_FDCWD, path, &buffer, &got), 0);
	expect_text(got, "one,");
	close(ends[0]);
	file_buffer_deinit(&buffer);
}

TEST(the_head_of_a_file)
{
	_cleanup_free_ char *bytes = numbered(FILE_READ_MAX + 1);
	struct file_buffer buffer = { 0 };
	struct scratch scratch;
	struct text got;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", TEXT("0123456789"));
	assert_int_equal(file_read_head(scratch.dir, "file", 4, &buffer, &got), 0);
	expect_text(got, "0123");
	assert_int_equal(file_read_head(scratch.dir, "file", 10, &buffer, &got), 0);
	expect_text(got, "0123456789");
	assert_int_equal(file_read_head(scratch.dir, "file", 11, &buffer, &got), 0);
	expect_text(got, "0123456789");
	scratch_write(&scratch, "file", (struct text){ bytes, FILE_READ_MAX + 1 });
	assert_int_equal(file_read_head(scratch.dir, "file", 20000, &buffer, &got), 0);
	assert_int_equal(got.length, 20000);
	assert_memory_equal(got.bytes, bytes, 20000);
	file_buffer_deinit(&buffer);
	scratch_deinit(&scratch);
}

TEST(failures_are_errnos)
{
	struct file_buffer buffer = { 0 };
	struct text got = TEXT("untouched");
	struct scratch scratch;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", TEXT("x"));
	assert_int_equal(file_read(scratch.dir, "none", &buffer, &got), ENOENT);
	assert_int_equal(file_read(scratch.dir, "file/below", &buffer, &got), ENOTDIR);
	assert_int_equal(file_read(scratch.dir, ".", &buffer, &got), EISDIR);
	assert_int_equal(file_read_record(scratch.dir, "none", &buffer, &got), ENOENT);
	assert_int_equal(file_read_head(scratch.dir, "none", 5, &buffer, &got), ENOENT);
	expect_text(got, "untouched");
	file_buffer_deinit(&buffer);
	scratch_deinit(&scratch);
}

/* Somebody may have put a FIFO where a file belongs. */
TEST(a_fifo_does_not_block)
{
	struct file_buffer buffer = { 0 };
	struct scratch scratch;
	struct text got;

	scratch_init(&scratch);
	assert_int_equal(mkfifoat(scratch.dir, "fifo", 0600), 0);
	assert_int_equal(file_read(scratch.dir, "fifo", &buffer, &got), 0);
	assert_int_equal(got.length, 0);
	file_buffer_deinit(&buffer);
	scratch_deinit(&scratch);
}

TEST(links)
{
	struct file_buffer buffer = { 0 };
	struct scratch scratch;
	struct text got = TEXT("untouched");
	char target[4096];

	scratch_init(&scratch);
	memset(target, 't', sizeof(target) - 1);
	target[sizeof(target) - 1] = '\0';
	assert_int_equal(symlinkat(target, scratch.dir, "long"), 0);
	assert_int_equal(symlinkat("somewhere (deleted)", scratch.dir, "short"), 0);
	scratch_write(&scratch, "file", TEXT("x"));
	assert_int_equal(file_readlink(scratch.dir, "none", &buffer, &got), ENOENT);
	assert_int_equal(file_readlink(scratch.dir, "file", &buffer, &got), EINVAL);
	expect_text(got, "untouched");
	assert_int_equal(file_readlink(scratch.dir, "long", &buffer, &got), 0);
	expect_text(got, target);
	assert_int_equal(file_readlink(scratch.dir, "short", &buffer, &got), 0);
	expect_text(got, "somewhere (deleted)");
	file_buffer_deinit(&buffer);
	scratch_deinit(&scratch);
}

TEST(directories_of_users)
{
	struct scratch scratch;
	int dir = -5;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", TEXT("x"));
	expect_ok(file_open_dir(scratch.path, &dir));
	assert_int_equal(faccessat(dir, "file", R_OK, 0), 0);
	close(dir);
	dir = -5;
	expect_error(file_open_dir(scratch_path(&scratch, "none"), &dir),
		     "/none: No such file or directory");
	expect_error(file_open_dir(scratch_path(&scratch, "file"), &dir), "/file: Not a directory");
	assert_int_equal(dir, -5);
	scratch_deinit(&scratch);
}

/* A blocking open would take lease-break-time, 45 s; SIGALRM ends the test before that. */
TEST(a_lease_does_not_block)
{
	struct scratch scratch;
	int leased, found;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", TEXT("1"));
	leased = openat(scratch.dir, "file", O_RDWR | O_CLOEXEC);
	found = openat(scratch.dir, "file", O_PATH | O_CLOEXEC);
	assert_true(leased >= 0 && found >= 0);
	signal(SIGIO, SIG_IGN);
	if (fcntl(leased, F_SETLEASE, F_WRLCK) < 0)
		skip();
	alarm(20);
	assert_int_equal(file_open_regular(found), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	expect_error(file_open_input(scratch_path(&scratch, "file"), &found),
		     "/file: a process holds a lease on it");
	expect_error(file_open_input_at(scratch.dir, "file", "there", &found),
		     "there: a process holds a lease on it");
	alarm(0);
	close(leased);
	close(found);
	scratch_deinit(&scratch);
}

TEST(files_that_users_name)
{
	struct scratch scratch;
	int fd = -5, writer;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", TEXT("x"));
	assert_int_equal(mkfifoat(scratch.dir, "fifo", 0600), 0);
	expect_error(file_open_input(scratch_path(&scratch, "none"), &fd),
		     "/none: No such file or directory");
	expect_error(file_open_input_at(scratch.dir, "none", "a path", &fd),
		     "a path: No such file or directory");
	/* Somebody may put it there instead of a file: it would be waited for. */
	expect_error(file_open_input_at(scratch.dir, "fifo", "a path", &fd),
		     "a path: not a regular file");
	assert_int_equal(fd, -5);
	expect_ok(file_open_input_at(scratch.dir, "file", "a path", &fd));
	close(fd);
	expect_ok(file_open_input(scratch_path(&scratch, "file"), &fd));
	close(fd);
	/* A user may name one, as "<(command)" does. */
	writer = openat(scratch.dir, "fifo", O_RDWR | O_CLOEXEC);
	expect_ok(file_open_input(scratch_path(&scratch, "fifo"), &fd));
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	close(fd);
	close(writer);
	scratch_deinit(&scratch);
}

/* A memory stream that ran out of memory, and a stream that cannot be written. */
TEST(a_stream_in_memory)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	assert_non_null(stream);
	fputs("whole", stream);
	assert_true(file_close_memory(stream, &text));
	assert_string_equal(text, "whole");
	stream = fopen("/dev/full", "w");
	assert_non_null(stream);
	fputs("lost", stream);
	assert_false(file_close_memory(stream, &text));
	assert_null(text);
	stream = fopen("/dev/null", "w");
	assert_non_null(stream);
	assert_false(file_close_memory(stream, &text));
}

UNIT_TESTS(cmocka_unit_test(every_size_comes_whole), cmocka_unit_test(the_largest_comes_whole),
	   cmocka_unit_test(larger_is_efbig), cmocka_unit_test(short_reads_are_joined),
	   cmocka_unit_test(a_record_is_one_read), cmocka_unit_test(the_head_of_a_file),
	   cmocka_unit_test(failures_are_errnos), cmocka_unit_test(a_fifo_does_not_block),
	   cmocka_unit_test(a_lease_does_not_block), cmocka_unit_test(files_that_users_name),
	   cmocka_unit_test(links), cmocka_unit_test(directories_of_users),
	   cmocka_unit_test(a_stream_in_memory))
