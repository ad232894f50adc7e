/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zstd, as streams with bounds.
 *
 * Writing: bytes go in as they are made, one frame at level 1 with a checksum comes out; or a frame
 * for each piece.
 * Reading: any number of frames; a frame may not ask for a window above 16 MiB (level 3 uses 2,
 * level 19 uses 8), whatever its header says, so memory does not depend on the file.
 */
#ifndef BASE_ZSTREAM_H
#define BASE_ZSTREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/* Takes the next bytes of a stream. */
typedef struct error *(*zstream_sink)(void *context, const void *bytes, size_t length);

struct zstream_writer {
	struct ZSTD_CCtx_s *zstd;
	zstream_sink sink;
	void *context;
	char *out;
	size_t room; /* of `out` */
};

struct error *zstream_writer_init(struct zstream_writer *writer, zstream_sink sink,
				  void *context) MUST_CHECK;

/* Is a zstream_sink itself: `context` is the struct zstream_writer. */
struct error *zstream_write(void *context, const void *bytes, size_t length) MUST_CHECK;

/* End the frame and hand out its last bytes. */
struct error *zstream_finish(struct zstream_writer *writer) MUST_CHECK;

/*
 * A zstream_sink, too: these bytes as a frame of their own, which is handed out at once. Long
 * pieces (1 MiB) take a third less time than as parts of one frame, since nothing is copied and
 * every look back is into the same memory; each frame has some hundred bytes more. Not for a writer
 * in whose frame zstream_write has begun.
 */
struct error *zstream_write_frame(void *context, const void *bytes, size_t length) MUST_CHECK;

/*
 * The same, for bytes whose repetitions are known: nothing is searched, which is most of the work.
 * A repeat says that `length` bytes from `at` on are the same as those `distance` bytes before.
 * Repeats are ascending and do not overlap; what is between them is new.
 */
struct zstream_repeat {
	uint32_t at, length; /* at least ZSTREAM_REPEAT_MIN */
	uint32_t distance;   /* at most ZSTREAM_DISTANCE_MAX, and not before the first byte */
};
#define ZSTREAM_REPEAT_MIN   8
#define ZSTREAM_DISTANCE_LOG 20
#define ZSTREAM_DISTANCE_MAX ((size_t)1 << ZSTREAM_DISTANCE_LOG)
struct error *zstream_write_repeats(struct zstream_writer *writer, const void *bytes, size_t length,
				    const struct zstream_repeat *repeats, size_t count) MUST_CHECK;

/* Room for so many bytes of output at once: a frame is then made in one go. */
struct error *zstream_make_room(struct zstream_writer *writer, size_t room) MUST_CHECK;

void zstream_writer_deinit(struct zstream_writer *writer);

struct zstream_reader {
	struct ZSTD_DCtx_s *zstd;
	int fd; /* not owned */
	char *in, *out;
	size_t in_used, in_length;
	uint64_t offset; /* decompressed bytes handed out */
	bool frame_open, any_frame, flushing;
	bool is_plain; /* JSON that is not compressed */
};

struct error *zstream_reader_init(struct zstream_reader *reader, int fd) MUST_CHECK;

/* Before anything is read: these few bytes, at most ZSTREAM_HEAD_MAX, were read from the descriptor
 * already, to see what it is, and come first. */
#define ZSTREAM_HEAD_MAX 16
void zstream_reader_begin(struct zstream_reader *reader, struct text head);

/*
 * The next decompressed bytes, or those of a file that is plain JSON: it begins with a brace, as no
 * zstd file does (RFC 8878, 3.1). They live until the next call; an empty text is the end.
 * Errors say what is wrong with the data but name no file: the caller knows it.
 */
struct error *zstream_read(struct zstream_reader *reader, struct text *ret) MUST_CHECK;

void zstream_reader_deinit(struct zstream_reader *reader);

#endif
