/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "snapshot/file.h"
#include "snapshot/recording.h"

static struct error *read_json(struct zstream_reader *zstd, struct snapshot_parser *parser)
{
	struct text bytes;
	struct error *err;

	for (;;) {
		err = zstream_read(zstd, &bytes);

		if (err)
			return err->errnum ? err
					   : error_prefix(err, "at offset %llu",
							  (unsigned long long)zstd->offset);
		if (!bytes.length)
			break;
		err = snapshot_parser_feed(parser, bytes);
		if (err)
			return error_prefix(err, "at offset %llu",
					    (unsigned long long)snapshot_parser_offset(parser));
	}
	err = snapshot_parser_finish(parser);
	return err ? error_prefix(err, "at offset %llu",
				  (unsigned long long)snapshot_parser_offset(parser))
		   : NULL;
}

struct error *snapshot_load_fd(int fd, const char *name, struct ctprof_snapshot **ret)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	_cleanup_(snapshot_parser_destroy) struct snapshot_parser *parser = NULL;
	struct zstream_reader zstd;
	struct error *err = zstream_reader_init(&zstd, fd);

	if (!err)
		err = snapshot_create(&snapshot);
	if (!err)
		err = snapshot_parser_create(snapshot, &parser);
	if (!err)
		err = read_json(&zstd, parser);
	zstream_reader_deinit(&zstd);
	if (err)
		return error_prefix(err, "%s", name);
	*ret = take_ptr(snapshot);
	return NULL;
}

struct error *snapshot_load(const char *snapshot, struct ctprof_snapshot **ret)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	struct error *err;

	if (strcmp(snapshot, "-") == 0)
		return snapshot_load_fd(STDIN_FILENO, "standard input", ret);
	err = recording_find(snapshot, &path);
	if (!err)
		err = file_open_input(path, &fd);
	return err ? err : snapshot_load_fd(fd, path, ret);
}
