/* SPDX-License-Identifier: BSD-2-Clause */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "base/array.h"
#include "base/zstream.h"

/* zstd's own limit, beyond which nothing is compressed together. */
#define BLOCK_MAX ((size_t)128 * 1024)

/* A block has one longer length of 64 KiB or more at most (ZSTD_longLengthType_e). */
#define PIECE_MAX ((size_t)32 * 1024)

/* A sequence without a distance ends a block. */
struct sequences {
	ARRAY(ZSTD_Sequence);
	size_t block;    /* bytes that are in the present block */
	size_t literals; /* of these, behind the last repeat */
};

/* --- repeats as sequences of blocks --- */

static bool end_block(struct sequences *s)
{
	const ZSTD_Sequence end = { .litLength = (unsigned)s->literals };

	s->block = s->literals = 0;
	return array_push(s, end);
}

static bool add_literals(struct sequences *s, size_t length)
{
	while (length) {
		size_t room = BLOCK_MAX - s->block;

		if (room > PIECE_MAX - s->literals)
			room = PIECE_MAX - s->literals;
		if (room > length)
			room = length;
		if (!room && !end_block(s))
			return false;
		s->literals += room;
		s->block += room;
		length -= room;
	}
	return true;
}

static bool add_repeat(struct sequences *s, uint32_t distance, size_t length)
{
	while (length) {
		/* Cut so that the rest is long enough to be a repeat of its own. */
		const size_t piece = length > PIECE_MAX + ZSTREAM_REPEAT_MIN ? PIECE_MAX : length;
		ZSTD_Sequence repeat = { .offset = distance, .matchLength = (unsigned)piece };

		if (piece > BLOCK_MAX - s->block && !end_block(s))
			return false;
		repeat.litLength = (unsigned)s->literals;
		if (!array_push(s, repeat))
			return false;
		s->literals = 0;
		s->block += piece;
		length -= piece;
	}
	return true;
}

/* Most repeats are in the middle of a block. */
static bool is_simple(const struct sequences *s, size_t literals,
		      const struct zstream_repeat *repeat)
{
	return !s->literals && literals < PIECE_MAX && repeat->length < PIECE_MAX &&
	       literals + repeat->length <= BLOCK_MAX - s->block && s->count < s->room;
}

static bool list_sequences(struct sequences *s, size_t length, const struct zstream_repeat *repeats,
			   size_t count)
{
	size_t done = 0;

	if (!array_reserve(s, count + length / PIECE_MAX + 1))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct zstream_repeat *repeat = &repeats[i];
		const size_t literals = repeat->at - done;

		done = repeat->at + repeat->length;
		if (is_simple(s, literals, repeat)) {
			s->items[s->count++] = (ZSTD_Sequence){ .offset = repeat->distance,
								.litLength = (unsigned)literals,
								.matchLength = repeat->length };
			s->block += literals + repeat->length;
		} else if (!add_literals(s, literals) ||
			   !add_repeat(s, repeat->distance, repeat->length)) {
			return false;
		}
	}
	return add_literals(s, length - done) && (!s->block || end_block(s));
}

/* --- a frame --- */

static size_t compress_sequences(ZSTD_CCtx *zstd, const struct sequences *s, char *out, size_t room,
				 const void *bytes, size_t length)
{
	/* Nothing is buffered. */
	const struct {
		ZSTD_cParameter parameter;
		int value;
	} set[] = {
		{ ZSTD_c_windowLog, ZSTREAM_DISTANCE_LOG },
		{ ZSTD_c_blockDelimiters, ZSTD_sf_explicitBlockDelimiters },
		{ ZSTD_c_stableInBuffer, 1 },
		{ ZSTD_c_stableOutBuffer, 1 },
	};

	/* The frame before is still open for a context. */
	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
	for (size_t i = 0; i < array_length(set); i++) {
		size_t failed = ZSTD_CCtx_setParameter(zstd, set[i].parameter, set[i].value);

		if (ZSTD_isError(failed))
			return failed;
	}
	return ZSTD_compressSequences(zstd, out, room, s->items, s->count, bytes, length);
}

struct error *zstream_write_repeats(struct zstream_writer *writer, const void *bytes, size_t length,
				    const struct zstream_repeat *repeats, size_t count)
{
	struct error *err = zstream_make_room(writer, ZSTD_compressBound(length));
	struct sequences sequences = { 0 };
	size_t made = 0;

	if (!err && !list_sequences(&sequences, length, repeats, count))
		err = &error_no_memory;
	if (!err)
		made = compress_sequences(writer->zstd, &sequences, writer->out, writer->room,
					  bytes, length);
	array_deinit(&sequences);
	if (!err && ZSTD_isError(made))
		err = error_create("zstd: %s", ZSTD_getErrorName(made));
	return err ? err : writer->sink(writer->context, writer->out, made);
}
