/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Globs over paths of cgroups.
 *
 *	err = glob_check(glob);
 *	if (err)
 *		return error_prefix(err, "--cgroup-flatten '%s'", glob);
 *	if (glob_matches(glob, path)) ...
 *
 * A glob matches a path as a whole, byte by byte in any locale:
 *
 *	?        one byte of a segment
 *	*        any bytes of a segment, or none
 *	**       as a segment: any number of segments, or none
 *	[a-f_]   one of these bytes; [!a-f_] one of the others. In it a ] must be escaped, and a -
 *	         at either end is itself
 *	\x       x itself
 *
 * A segment is the text between two slashes, and only ** matches a slash.
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include "base/error.h"
#include "base/text.h"

/* The length limit of a path (PATH_MAX). */
#define GLOB_MAX 4096

/*
 * The reason why `glob` is invalid: it is empty, longer than GLOB_MAX, or does not start with a
 * slash; it has an empty segment (as after a final slash), ** within a segment, a [ without its ],
 * an empty class, a reversed range, or a final backslash.
 */
struct error *glob_check(const char *glob) MUST_CHECK;

/* The reason why fnmatch(3) would take a pattern for something else than it looks like: a [ without
 * its ], or a backslash before nothing. */
struct error *pattern_check(const char *pattern) MUST_CHECK;

/* The pattern that matches this text alone. To be freed; NULL: no memory. */
char *pattern_of_text(const char *text);

/*
 * Does the whole of `path` match? `glob` is one that glob_check takes. What does not start with a
 * slash matches nothing.
 *
 * Needs no memory, and no more steps than a few times the length of `glob` times that of `path`:
 * only the last * of a segment, and the last ** of the glob, is ever tried again, as each takes as
 * little as it can.
 */
bool glob_matches(const char *glob, struct text path);

#endif
