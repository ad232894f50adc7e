/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/outfile.h"
#include "base/zstream.h"

#define CHUNK      ((size_t)64 * 1024)
#define ZSTD_MAGIC TEXT("\x28\xb5\x2f\xfd")

/* --- reading --- */

/* Read the bytes that determine the type of the file, or all of a shorter one. */
static struct error *read_head(int fd, char *bytes, size_t *ret)
{
	size_t got = 1;
	struct error *err = NULL;

	for (*ret = 0; !err && got && *ret < ZSTD_MAGIC.length; *ret += got)
		err = file_read_some(fd, bytes + *ret, ZSTD_MAGIC.length - *ret, &got);
	return err;
}

static struct error *feed_packed(int fd, struct text head, struct json_reader *reader)
{
	struct zstream_reader zstd;
	struct error *err = zstream_reader_init(&zstd, fd);
	struct text bytes = { "", 1 };

	if (!err)
		zstream_reader_begin(&zstd, head);
	while (!err && bytes.length) {
		err = zstream_read(&zstd, &bytes);
		if (!err && bytes.length)
			err = json_reader_feed(reader, bytes);
	}
	zstream_reader_deinit(&zstd);
	return err;
}

static struct error *feed_plain(int fd, struct text head, struct json_reader *reader)
{
	_cleanup_free_ char *bytes = malloc(CHUNK);
	struct error *err = bytes ? json_reader_feed(reader, head) : &error_no_memory;
	size_t got = 1;

	while (!err && got) {
		err = file_read_some(fd, bytes, CHUNK, &got);
		if (!err && got)
			err = json_reader_feed(reader, (struct text){ bytes, got });
	}
	return err;
}

static struct error *feed(int fd, struct json_reader *reader)
{
	char bytes[ZSTREAM_HEAD_MAX];
	struct text head = { bytes, 0 };
	struct error *err = read_head(fd, bytes, &head.length);

	if (err)
		return err;
	if (!head.length)
		return error_create("the file is empty");
	err = text_equal(head, ZSTD_MAGIC) ? feed_packed(fd, head, reader)
					   : feed_plain(fd, head, reader);
	return err ? err : json_reader_finish(reader);
}

struct error *json_file_read_fd(int fd, const char *name, json_take root, void *target, void *user)
{
	struct json_reader *reader;
	struct error *err = json_reader_create(root, target, user, &reader);

	if (err)
		return err;
	err = feed(fd, reader);
	json_reader_destroy(reader);
	if (err && err != &error_no_memory)
		err = error_prefix(err, "%s", name);
	return err;
}

struct error *json_file_read(const char *path, json_take root, void *target, void *user)
{
	_cleanup_close_ int fd = -1;
	struct error *err;

	if (strcmp(path, "-") == 0)
		return json_file_read_fd(STDIN_FILENO, "standard input", root, target, user);
	err = file_open_input(path, &fd);
	return err ? err : json_file_read_fd(fd, path, root, target, user);
}

/* --- writing --- */

static struct error *write_packed(struct outfile *file,
				  void (*fill)(struct json_writer *w, const void *of),
				  const void *of)
{
	struct zstream_writer zstd;
	struct json_writer writer;
	struct error *err = zstream_writer_init(&zstd, outfile_write, file);

	if (err)
		return err;
	err = json_writer_init(&writer, zstream_write, &zstd);
	if (!err) {
		fill(&writer, of);
		err = json_writer_finish(&writer);
		json_writer_deinit(&writer);
	}
	if (!err)
		err = zstream_finish(&zstd);
	zstream_writer_deinit(&zstd);
	return err;
}

struct error *json_file_write(const char *path, void (*fill)(struct json_writer *w, const void *of),
			      const void *of)
{
	struct outfile file;
	struct error *err = outfile_open(&file, path);

	if (!err)
		err = write_packed(&file, fill, of);
	if (!err)
		err = outfile_commit(&file);
	outfile_close(&file);
	return err;
}
