/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder base/: helpers that all other folders use; nothing about threads or kernels.
 *
 * Errors are values (error.h), and guards release what a block owns (cleanup.h). Memory comes from
 * arrays, arenas with a limit (arena.h) and interned names (names.h). Text is a slice that need not
 * end in NUL (text.h); file.h reads whole files relative to a directory descriptor, outfile.h
 * creates files atomically, handover.h gives them to the user of sudo. json_reader.h and
 * json_writer.h stream over libyajl: there is no document tree, numbers stay text, and depth,
 * lengths and duplicates are bounded there. zstream.h compresses with zstd at level 1, which makes
 * snapshots as small as level 3 in half the time. SHA-256 is that of libmd (30 KB, with a static
 * archive). The width of characters is from libutf8proc, because wcwidth(3) knows it only in UTF-8
 * locales, which a static binary on another host may not have.
 */

/*
 * Errors are values with a place.
 *
 * A function that can fail returns `struct error *`: NULL is success; anything else is owned by
 * the caller, who hands it on or destroys it. Outputs are written only on success. Nothing below
 * src/cmd prints.
 *
 *	struct error *err = file_open_dir(path, &dir);
 *	if (err)
 *		return error_prefix(err, "--proc-root");
 *
 * Running out of memory needs no memory: `error_no_memory` is static, and so is safe to return
 * and to destroy.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>

#include "base/cleanup.h"

struct error {
	int errnum; /* what the system said, or would have said; 0: it has nothing to do with it */
	char *message; /* one line, without a full stop or newline */
};

extern struct error error_no_memory;

#define MUST_CHECK __attribute__((warn_unused_result))

/* A new error that says `format`. Never NULL. */
struct error *error_create(const char *format, ...)
	__attribute__((format(printf, 1, 2), returns_nonnull)) MUST_CHECK;

/* A new error that says `format`, then ": " and strerror(errnum). Never NULL. */
struct error *error_system(int errnum, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull)) MUST_CHECK;

/* A new error with the message `format` alone; `errnum` is for callers that depend on the reason.
 * Never NULL. */
struct error *error_coded(int errnum, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull)) MUST_CHECK;

/* Put "`format`: " before the message of `err`, which is consumed. */
struct error *error_prefix(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull)) MUST_CHECK;

/* Takes NULL. */
void error_destroy(struct error *err);
DEFINE_CLEANUP(error_destroy, struct error *)
#define _cleanup_error_ _cleanup_(error_destroy)

#endif
