/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/zstream.h"
#include "profile/files.h"
#include "profile/gzip.h"
#include "profile/json.h"

/* The most bytes of a file that is read whole: folded stacks and pprof. */
#define WHOLE_MAX ((size_t)1 << 30)
#define CHUNK     ((size_t)64 * 1024)

/* A file, by its first bytes and a way to read the rest. */
struct source {
	enum folded_unit unit;
	int fd;
	char head[4];
	size_t length; /* of the head; fewer than four when there is no more */
};

static struct error *read_head(struct source *source)
{
	size_t got = 1;

	while (source->length < sizeof(source->head) && got) {
		struct error *err = file_read_some(source->fd, source->head + source->length,
						   sizeof(source->head) - source->length, &got);

		if (err)
			return err;
		source->length += got;
	}
	return NULL;
}

static struct text head_of(const struct source *source)
{
	return (struct text){ source->head, source->length };
}

/* --- JSON, packed and plain --- */

static struct error *feed_packed(const struct source *source, struct zstream_reader *zstd,
				 struct profile_parser *parser)
{
	struct error *err = zstream_reader_init(zstd, source->fd);

	if (!err)
		zstream_reader_begin(zstd, head_of(source));
	while (!err) {
		struct text bytes;

		err = zstream_read(zstd, &bytes);
		if (err || !bytes.length)
			break;
		err = profile_parser_feed(parser, bytes);
	}
	return err;
}

static struct error *feed_zstd(const struct source *source, struct profile_parser *parser)
{
	struct zstream_reader zstd;
	struct error *err = feed_packed(source, &zstd, parser);

	zstream_reader_deinit(&zstd);
	return err;
}

static struct error *feed_plain(const struct source *source, struct profile_parser *parser)
{
	_cleanup_free_ char *bytes = malloc(CHUNK);
	struct error *err = bytes ? profile_parser_feed(parser, head_of(source)) : &error_no_memory;
	size_t got = 1;

	while (!err) {
		err = file_read_some(source->fd, bytes, CHUNK, &got);
		if (err || !got)
			break;
		err = profile_parser_feed(parser, (struct text){ bytes, got });
	}
	return err;
}

typedef struct error *feed(const struct source *source, struct profile_parser *parser);

static struct error *load_json(const struct source *source, feed *feed_all, struct profile **ret)
{
	_cleanup_(profile_parser_destroy) struct profile_parser *parser = NULL;
	struct error *err = profile_parser_create(&parser);

	if (!err)
		err = feed_all(source, parser);
	return err ? err : profile_parser_finish(parser, ret);
}

static struct error *load_raw(const struct source *source, struct profile **ret)
{
	return load_json(source, feed_zstd, ret);
}

static struct error *load_plain(const struct source *source, struct profile **ret)
{
	return load_json(source, feed_plain, ret);
}

/* --- what is read whole --- */

struct bytes {
	ARRAY(char);
};

static struct error *read_rest(const struct source *source, struct bytes *bytes)
{
	size_t got = source->length;

	if (!array_reserve(bytes, CHUNK))
		return &error_no_memory;
	memcpy(bytes->items, source->head, got);
	while (got) {
		struct error *err;

		bytes->count += got;
		if (bytes->count > WHOLE_MAX)
			return error_create("longer than %zu bytes", WHOLE_MAX);
		if (!array_reserve(bytes, CHUNK))
			return &error_no_memory;
		err = file_read_some(source->fd, bytes->items + bytes->count, CHUNK, &got);
		if (err)
			return err;
	}
	return NULL;
}

static struct error *load_whole(const struct source *source,
				struct error *parse(struct text bytes, struct profile **ret),
				struct profile **ret)
{
	struct bytes bytes = { 0 };
	struct error *err = read_rest(source, &bytes);

	if (!err)
		err = parse((struct text){ bytes.items, bytes.count }, ret);
	array_deinit(&bytes);
	return err;
}

static struct error *load_pprof(const struct source *source, struct profile **ret)
{
	return load_whole(source, profile_parse_pprof, ret);
}

static struct error *load_folded(const struct source *source, struct profile **ret)
{
	struct bytes bytes = { 0 };
	struct error *err = read_rest(source, &bytes);

	if (!err)
		err = profile_parse_folded_in((struct text){ bytes.items, bytes.count },
					      source->unit, ret);
	array_deinit(&bytes);
	return err;
}

/* --- which it is --- */

static const struct {
	struct text magic;
	struct error *(*load)(const struct source *source, struct profile **ret);
} forms[] = {
	{ { "\x28\xb5\x2f\xfd", 4 }, load_raw },
	{ { "{", 1 }, load_plain },
	{ { "\x1f\x8b", 2 }, load_pprof },
	{ { "", 0 }, load_folded },
};

static struct error *load_source(int fd, enum folded_unit unit, struct profile **ret,
				 bool *ret_is_folded)
{
	struct source source = { .fd = fd, .unit = unit };
	struct error *err = read_head(&source);
	size_t form = 0;

	if (err)
		return err;
	if (!source.length)
		return error_create("the file is empty");
	while (!text_starts(head_of(&source), forms[form].magic))
		form++;
	*ret_is_folded = forms[form].load == load_folded;
	return forms[form].load(&source, ret);
}

static struct error *load_fd(int fd, const char *name, enum folded_unit unit, struct profile **ret,
			     bool *ret_is_folded)
{
	struct error *err = load_source(fd, unit, ret, ret_is_folded);

	return err && err != &error_no_memory ? error_prefix(err, "%s", name) : err;
}

struct error *profile_load_fd(int fd, const char *name, struct profile **ret)
{
	bool is_folded;

	return load_fd(fd, name, FOLDED_SAMPLES, ret, &is_folded);
}

struct error *profile_load(const char *path, struct profile **ret)
{
	bool is_folded;

	return profile_load_in(path, FOLDED_SAMPLES, ret, &is_folded);
}

struct error *profile_load_in(const char *path, enum folded_unit unit, struct profile **ret,
			      bool *ret_is_folded)
{
	_cleanup_close_ int fd = -1;
	struct error *err;

	if (strcmp(path, "-") == 0)
		return load_fd(STDIN_FILENO, "standard input", unit, ret, ret_is_folded);
	err = file_open_input(path, &fd);
	return err ? err : load_fd(fd, path, unit, ret, ret_is_folded);
}
