/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gzip (RFC 1952), as pprof's profiles are packed.
 */
#ifndef PROFILE_GZIP_H
#define PROFILE_GZIP_H

#include <zlib.h>

#include "base/json_writer.h"

/* Packs what is written, and hands it on. Times and names are left out: the same bytes always
 * become the same. */
struct gzip_writer {
	z_stream zlib;
	json_sink sink;
	void *context;
	bool is_open;
};

struct error *gzip_writer_init(struct gzip_writer *writer, json_sink sink,
			       void *context) MUST_CHECK;
/* Like gzip_writer_init(), at a fifth of the time and with output a sixth larger: for streams,
 * which are sent and not kept. */
struct error *gzip_writer_init_fast(struct gzip_writer *writer, json_sink sink,
				    void *context) MUST_CHECK;
struct error *gzip_write(struct gzip_writer *writer, const void *bytes, size_t length) MUST_CHECK;
/* Pass on everything written so far, so that a reader can unpack it. More may follow. */
struct error *gzip_flush(struct gzip_writer *writer) MUST_CHECK;
/* Hand out what is left. */
struct error *gzip_finish(struct gzip_writer *writer) MUST_CHECK;
/* Takes one that was never finished. */
void gzip_writer_deinit(struct gzip_writer *writer);

/* Do the bytes begin as gzip does? */
bool gzip_is_packed(struct text bytes);

/* The unpacked bytes, at most `most`, in memory that the caller frees. */
struct error *gzip_unpack(struct text packed, size_t most, char **ret,
			  size_t *ret_length) MUST_CHECK;

#endif
