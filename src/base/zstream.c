/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/zstream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

/* Snapshots get as small as with level 3, or smaller if their numbers are random, in half the time.
 */
#define LEVEL          1
#define WINDOW_LOG_MAX 24 /* 16 MiB */
#define CHUNK          ((size_t)128 * 1024)

static struct error *zstd_error(size_t code)
{
	return error_create("zstd: %s", ZSTD_getErrorName(code));
}

struct error *zstream_writer_init(struct zstream_writer *writer, zstream_sink sink, void *context)
{
	*writer = (struct zstream_writer){ .sink = sink, .context = context };
	writer->zstd = ZSTD_createCCtx();
	writer->out = malloc(CHUNK);
	writer->room = CHUNK;
	if (!writer->zstd || !writer->out)
		return &error_no_memory;
	ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1);
	return NULL;
}

static struct error *compress(struct zstream_writer *writer, ZSTD_inBuffer *in,
			      ZSTD_EndDirective how)
{
	size_t left;

	do {
		ZSTD_outBuffer out = { .dst = writer->out, .size = writer->room };
		struct error *err;

		left = ZSTD_compressStream2(writer->zstd, &out, in, how);
		if (ZSTD_isError(left))
			return zstd_error(left);
		err = out.pos ? writer->sink(writer->context, writer->out, out.pos) : NULL;
		if (err)
			return err;
	} while (how == ZSTD_e_end ? left != 0 : in->pos < in->size);
	return NULL;
}

struct error *zstream_write(void *context, const void *bytes, size_t length)
{
	ZSTD_inBuffer in = { .src = bytes, .size = length };

	return compress(context, &in, ZSTD_e_continue);
}

struct error *zstream_finish(struct zstream_writer *writer)
{
	ZSTD_inBuffer in = { 0 };

	return compress(writer, &in, ZSTD_e_end);
}

struct error *zstream_make_room(struct zstream_writer *writer, size_t room)
{
	if (room <= writer->room)
		return NULL;
	free(writer->out);
	writer->out = malloc(room);
	writer->room = writer->out ? room : 0;
	return writer->out ? NULL : &error_no_memory;
}

struct error *zstream_write_frame(void *context, const void *bytes, size_t length)
{
	struct zstream_writer *writer = context;
	struct error *err = zstream_make_room(writer, ZSTD_compressBound(length));
	size_t made;

	if (err)
		return err;
	made = ZSTD_compress2(writer->zstd, writer->out, writer->room, bytes, length);
	return ZSTD_isError(made) ? zstd_error(made)
				  : writer->sink(writer->context, writer->out, made);
}

void zstream_writer_deinit(struct zstream_writer *writer)
{
	ZSTD_freeCCtx(writer->zstd);
	free(writer->out);
	*writer = (struct zstream_writer){ 0 };
}

struct error *zstream_reader_init(struct zstream_reader *reader, int fd)
{
	*reader = (struct zstream_reader){ .fd = fd };
	reader->zstd = ZSTD_createDCtx();
	reader->in = malloc(CHUNK);
	reader->out = malloc(CHUNK);
	if (!reader->zstd || !reader->in || !reader->out)
		return &error_no_memory;
	ZSTD_DCtx_setParameter(reader->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return NULL;
}

void zstream_reader_begin(struct zstream_reader *reader, struct text head)
{
	memcpy(reader->in, head.bytes, head.length);
	reader->in_length = head.length;
}

static struct error *refill(struct zstream_reader *reader)
{
	ssize_t got;

	do
		got = read(reader->fd, reader->in, CHUNK);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return error_system(errno, "read");
	reader->in_used = 0;
	reader->in_length = (size_t)got;
	return NULL;
}

static struct error *read_error(const struct zstream_reader *reader, size_t code)
{
	if (!reader->any_frame && ZSTD_getErrorCode(code) == ZSTD_error_prefix_unknown)
		return error_create("neither a zstd file nor JSON");
	return zstd_error(code);
}

/* Only the first bytes tell: those of a file begin a frame, or JSON, after blanks at most. */
static bool begins_as_json(const struct zstream_reader *reader)
{
	size_t i = 0;

	if (reader->any_frame || reader->frame_open || reader->offset)
		return false;
	while (i < reader->in_length && strchr(" \t\r\n", reader->in[i]) && reader->in[i])
		i++;
	return i < reader->in_length && reader->in[i] == '{';
}

/* All that was read, as it is. */
static struct error *read_plain(struct zstream_reader *reader, struct text *ret)
{
	struct error *err = reader->in_used == reader->in_length ? refill(reader) : NULL;

	if (err)
		return err;
	*ret = (struct text){ reader->in + reader->in_used, reader->in_length - reader->in_used };
	reader->in_used = reader->in_length;
	reader->offset += ret->length;
	return NULL;
}

struct error *zstream_read(struct zstream_reader *reader, struct text *ret)
{
	for (;;) {
		ZSTD_outBuffer out = { .dst = reader->out, .size = CHUNK };
		ZSTD_inBuffer in = { .src = reader->in };
		size_t hint;

		if (reader->is_plain)
			return read_plain(reader, ret);
		if (reader->in_used == reader->in_length && !reader->flushing) {
			struct error *err = refill(reader);

			if (err)
				return err;
			if (!reader->in_length && reader->frame_open)
				return error_create("the file ends in the middle of its data");
			if (!reader->in_length && !reader->any_frame)
				return error_create("the file is empty");
			if (!reader->in_length) {
				*ret = (struct text){ reader->out, 0 };
				return NULL;
			}
		}
		reader->is_plain = begins_as_json(reader);
		if (reader->is_plain)
			continue;
		in.pos = reader->in_used;
		in.size = reader->in_length;
		hint = ZSTD_decompressStream(reader->zstd, &out, &in);
		if (ZSTD_isError(hint))
			return read_error(reader, hint);
		reader->any_frame |= out.pos > 0 || hint == 0;
		reader->in_used = in.pos;
		reader->frame_open = hint != 0;
		reader->flushing = hint != 0 && out.pos == out.size;
		reader->offset += out.pos;
		if (out.pos) {
			*ret = (struct text){ reader->out, out.pos };
			return NULL;
		}
	}
}

void zstream_reader_deinit(struct zstream_reader *reader)
{
	ZSTD_freeDCtx(reader->zstd);
	free(reader->in);
	free(reader->out);
	*reader = (struct zstream_reader){ 0 };
}
