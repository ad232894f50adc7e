/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The snapshot file: zstd-compressed JSON, described in doc/format.md.
 *
 * It holds every field of the `ktstr ctprof` format under its own name, so that tools of that
 * family find what they expect, and says beside it what was measured. Read are our own files, those
 * of `ktstr ctprof` in its present and its later spelling, and its older form, .hst.zst.
 */
#ifndef SNAPSHOT_FILE_H
#define SNAPSHOT_FILE_H

#include "base/zstream.h"
#include "snapshot/model.h"

/* The number of the form of the file that we write. */
#define SNAPSHOT_FORM 1

/* Write the JSON text, piece by piece. */
struct error *snapshot_write_json(const struct ctprof_snapshot *snapshot, zstream_sink sink,
				  void *context) MUST_CHECK;

/* Write the compressed file; "-" is standard output. An existing file stays as it is until the
 * new one is whole. */
struct error *snapshot_save(const struct ctprof_snapshot *snapshot, const char *path) MUST_CHECK;

/* The bytes of that file, in memory that is the caller's to free. */
struct error *snapshot_pack(const struct ctprof_snapshot *snapshot, char **ret,
			    size_t *ret_length) MUST_CHECK;

/* Read a file, or one of a recording (recording_find); "-" is standard input. The error names the
 * file and the offset in its decompressed text. */
struct error *snapshot_load(const char *snapshot, struct ctprof_snapshot **ret) MUST_CHECK;

/* The same from a descriptor, which stays the caller's; `name` is for messages. */
struct error *snapshot_load_fd(int fd, const char *name, struct ctprof_snapshot **ret) MUST_CHECK;

/* Reads JSON text piece by piece into a snapshot: what snapshot_load does after decompression. */
struct snapshot_parser;
struct error *snapshot_parser_create(struct ctprof_snapshot *snapshot,
				     struct snapshot_parser **ret) MUST_CHECK;
struct error *snapshot_parser_feed(struct snapshot_parser *parser, struct text bytes) MUST_CHECK;
struct error *snapshot_parser_finish(struct snapshot_parser *parser) MUST_CHECK;
uint64_t snapshot_parser_offset(const struct snapshot_parser *parser);
void snapshot_parser_destroy(struct snapshot_parser *parser);
DEFINE_CLEANUP(snapshot_parser_destroy, struct snapshot_parser *)

#endif
