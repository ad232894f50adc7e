/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An unwind table as the bytes of a file: a head, the arrays of the table as they are in memory,
 * and a checksum of all that (CRC-64 of ECMA-182, as xz has it: 20 MB take it some 3 ms, and
 * SHA-256 some 80). It is read on the machine that wrote it, so it has that machine's order of
 * bytes; the number of its form comes out wrong elsewhere.
 *
 * The checksum tells what a disk has broken. What a file says is not believed for that: each number
 * is looked at, so that no reader of the table leaves it.
 */
#ifndef UNWIND_TABLE_FILE_H
#define UNWIND_TABLE_FILE_H

#include "unwind/build.h"

/* More than a table of 4 GiB of code has. */
#define UNWIND_TABLE_FILE_MAX     ((size_t)512 << 20)

#define UNWIND_BUILD_ID_BYTES_MAX 64

/* Bytes to a sink, in a few large pieces. Of a build-id of 1 to UNWIND_BUILD_ID_BYTES_MAX bytes. */
struct error *unwind_table_write(const struct unwind_table *table, struct text build_id,
				 struct error *(*write)(void *context, const void *bytes,
							size_t length),
				 void *context) MUST_CHECK;

/* False, with `ret` untouched: it is not a whole file of this form with the table of that build-id,
 * or there is no memory. */
bool unwind_table_parse(struct text bytes, struct text build_id, struct unwind_table *ret);

/* Does it keep what unwind/build.h and unwind/pool.h promise? Blocks must be in order, and not
 * overlap. */
bool unwind_table_is_sound(const struct unwind_table *table);

#endif
