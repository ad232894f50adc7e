/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is one JSON value, packed by zstd or plain.
 */
#ifndef BASE_JSON_FILE_H
#define BASE_JSON_FILE_H

#include "base/json_reader.h"
#include "base/json_writer.h"

/* Read it: `root` and what follows as in json_reader_create(). "-" is standard input. */
struct error *json_file_read(const char *path, json_take root, void *target, void *user) MUST_CHECK;

/* The same from a descriptor, which stays the caller's; `name` is for messages. */
struct error *json_file_read_fd(int fd, const char *name, json_take root, void *target,
				void *user) MUST_CHECK;

/* Write it, packed: whole, or not at all (base/outfile.h). */
struct error *json_file_write(const char *path, void (*fill)(struct json_writer *w, const void *of),
			      const void *of) MUST_CHECK;

#endif
