/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/gzip.h"

#include "base/array.h"

/* The window bits by which deflateInit2 and inflateInit2 of zlib select gzip, with the largest
 * window. */
#define GZIP_WINDOW (15 + 16)

#define CHUNK       ((size_t)64 * 1024)

static struct error *init(struct gzip_writer *writer, int level, json_sink sink, void *context)
{
	*writer = (struct gzip_writer){ .sink = sink, .context = context };
	if (deflateInit2(&writer->zlib, level, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return &error_no_memory;
	writer->is_open = true;
	return NULL;
}

struct error *gzip_writer_init(struct gzip_writer *writer, json_sink sink, void *context)
{
	return init(writer, Z_DEFAULT_COMPRESSION, sink, context);
}

struct error *gzip_writer_init_fast(struct gzip_writer *writer, json_sink sink, void *context)
{
	return init(writer, Z_BEST_SPEED, sink, context);
}

static struct error *deflate_all(struct gzip_writer *writer, int flush)
{
	unsigned char out[4096];
	int status;

	do {
		struct error *err;

		writer->zlib.next_out = out;
		writer->zlib.avail_out = sizeof(out);
		status = deflate(&writer->zlib, flush);
		err = writer->sink(writer->context, out, sizeof(out) - writer->zlib.avail_out);
		if (err)
			return err;
	} while (status == Z_OK && (flush == Z_FINISH || !writer->zlib.avail_out));
	return NULL;
}

struct error *gzip_write(struct gzip_writer *writer, const void *bytes, size_t length)
{
	const unsigned char *next = bytes;

	while (length) {
		size_t piece = length < CHUNK ? length : CHUNK;
		struct error *err;

		writer->zlib.next_in = (unsigned char *)(uintptr_t)next;
		writer->zlib.avail_in = (unsigned)piece;
		err = deflate_all(writer, Z_NO_FLUSH);
		if (err)
			return err;
		next += piece;
		length -= piece;
	}
	return NULL;
}

struct error *gzip_flush(struct gzip_writer *writer)
{
	return deflate_all(writer, Z_SYNC_FLUSH);
}

struct error *gzip_finish(struct gzip_writer *writer)
{
	return deflate_all(writer, Z_FINISH);
}

void gzip_writer_deinit(struct gzip_writer *writer)
{
	if (writer->is_open)
		deflateEnd(&writer->zlib);
	writer->is_open = false;
}

bool gzip_is_packed(struct text bytes)
{
	return text_starts(bytes, TEXT("\x1f\x8b"));
}

struct gzip_bytes {
	ARRAY(char);
};

static struct error *inflate_all(z_stream *zlib, struct text packed, size_t most,
				 struct gzip_bytes *bytes)
{
	size_t done = 0;
	int status = Z_OK;

	while (status != Z_STREAM_END) {
		size_t piece = packed.length - done < CHUNK ? packed.length - done : CHUNK;

		if (bytes->count >= most)
			return error_create("more than %zu bytes when unpacked", most);
		if (!array_reserve(bytes, CHUNK))
			return &error_no_memory;
		zlib->next_in = (unsigned char *)(uintptr_t)(packed.bytes + done);
		zlib->avail_in = (unsigned)piece;
		zlib->next_out = (unsigned char *)bytes->items + bytes->count;
		zlib->avail_out = CHUNK;
		status = inflate(zlib, Z_NO_FLUSH);
		if (status == Z_MEM_ERROR)
			return &error_no_memory;
		if (status == Z_BUF_ERROR)
			return error_create("the gzip data end in the middle");
		if (status != Z_OK && status != Z_STREAM_END)
			return error_create("not gzip data: %s",
					    zlib->msg ? zlib->msg : "requires a dictionary");
		done += piece - zlib->avail_in;
		bytes->count += CHUNK - zlib->avail_out;
	}
	return NULL;
}

struct error *gzip_unpack(struct text packed, size_t most, char **ret, size_t *ret_length)
{
	z_stream zlib = { 0 };
	struct gzip_bytes bytes = { 0 };
	struct error *err;

	if (inflateInit2(&zlib, GZIP_WINDOW) != Z_OK)
		return &error_no_memory;
	err = inflate_all(&zlib, packed, most, &bytes);
	inflateEnd(&zlib);
	if (err) {
		array_deinit(&bytes);
		return err;
	}
	*ret = bytes.items;
	*ret_length = bytes.count;
	return NULL;
}
