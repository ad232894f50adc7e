/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink that hands its bytes to another thread, so that they are produced and processed at the
 * same time.
 *
 *	struct async_writer *writer;
 *	struct error *err = async_writer_open(zstream_write, &zstd, &writer);
 *	if (!err)
 *		err = snapshot_write_json(snapshot, async_writer_write, writer);
 *	err = async_writer_close(writer, err);
 *
 * The bytes are copied, in order, into a few buffers: a producer that is ahead waits.
 */
#ifndef BASE_ASYNC_WRITER_H
#define BASE_ASYNC_WRITER_H

#include "base/zstream.h"

struct async_writer;

/* `next` is called from the other thread until async_writer_close returns, and from no other. */
struct error *async_writer_open(zstream_sink next, void *context,
				struct async_writer **ret) MUST_CHECK;

/* Is a zstream_sink itself: `context` is the struct async_writer. Fails once the next sink has. */
struct error *async_writer_write(void *context, const void *bytes, size_t length) MUST_CHECK;

/* Wait until the next sink has all bytes; takes NULL. Returns the error of the next sink, or
 * `before`, which is consumed. */
struct error *async_writer_close(struct async_writer *writer, struct error *before) MUST_CHECK;

#endif
