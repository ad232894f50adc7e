/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct text guarded(const void *bytes, size_t length)
{
	char *copy = malloc(length ? length : 1);

	assert_non_null(copy);
	if (length)
		memcpy(copy, bytes, length);
	return (struct text){ copy, length };
}

void unguard(struct text text)
{
	free((void *)(uintptr_t)text.bytes);
}

void expect_text_(struct text text, const char *string, const char *file, int line)
{
	if (text_equal(text, text_of(string)))
		return;
	print_error("\"%.*s\" is not \"%s\"\n", (int)text.length, text.bytes, string);
	_fail(file, line);
}

void expect_ok_(struct error *err, const char *file, int line)
{
	if (!err)
		return;
	print_error("unexpected error: %s\n", err->message);
	_fail(file, line);
}

void expect_error_(struct error *err, const char *message, const char *file, int line)
{
	if (!err) {
		print_error("no error, expected one with \"%s\"\n", message);
		_fail(file, line);
	}
	if (!strstr(err->message, message)) {
		print_error("\"%s\" does not hold \"%s\"\n", err->message, message);
		_fail(file, line);
	}
	error_destroy(err);
}

struct error *sunk_write(void *context, const void *bytes, size_t length)
{
	struct sunk *sunk = context;

	sunk->calls++;
	if (sunk->refuse_after && sunk->count + length > sunk->refuse_after)
		return error_create("the sink is full");
	assert_true(array_reserve(sunk, length + 1));
	if (length)
		memcpy(sunk->items + sunk->count, bytes, length);
	sunk->count += length;
	sunk->items[sunk->count] = '\0';
	return NULL;
}

void scratch_init(struct scratch *scratch)
{
	strcpy(scratch->path, "/tmp/ctprof-unit-XXXXXX");
	assert_non_null(mkdtemp(scratch->path));
	scratch->dir = open(scratch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(scratch->dir >= 0);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

void scratch_deinit(struct scratch *scratch)
{
	close(scratch->dir);
	assert_int_equal(nftw(scratch->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

const char *scratch_path(const struct scratch *scratch, const char *name)
{
	static char path[320];

	snprintf(path, sizeof(path), "%s/%s", scratch->path, name);
	return path;
}

void scratch_write(const struct scratch *scratch, const char *name, struct text bytes)
{
	FILE *file = fopen(scratch_path(scratch, name), "we");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes.bytes, 1, bytes.length, file), bytes.length);
	assert_int_equal(fclose(file), 0);
}

bool scratch_holds(const struct scratch *scratch, const char *name, struct text bytes)
{
	FILE *file = fopen(scratch_path(scratch, name), "re");
	char *got = malloc(bytes.length + 1);
	size_t length;
	bool same;

	assert_non_null(file);
	assert_non_null(got);
	length = fread(got, 1, bytes.length + 1, file);
	same = length == bytes.length && memcmp(got, bytes.bytes, length) == 0;
	free(got);
	fclose(file);
	return same;
}

size_t scratch_count(const struct scratch *scratch)
{
	DIR *stream = opendir(scratch->path);
	size_t count = 0;

	assert_non_null(stream);
	while (readdir(stream))
		count++;
	closedir(stream);
	return count - 2;
}

uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

bool has_openat2(void)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how));

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
