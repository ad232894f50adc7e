/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers of the readers of other tools' profiles.
 */
#ifndef PROFILE_IMPORT_H
#define PROFILE_IMPORT_H

#include "base/text.h"
#include "profile/profile.h"

/* No name of a function is longer, and what we write of it can be read again. */
#define IMPORT_NAME_MAX ((size_t)64 * 1024)

/* A name that JSON may hold: without NUL, and not longer than that. */
struct error *import_name(struct profile *profile, struct text text,
			  const struct name **ret) MUST_CHECK;

/* A thread of which nothing is known: 0, as it becomes the first. */
struct error *import_nobody(struct profile *profile) MUST_CHECK;

/* The kind of a frame that has only a name: "--" and names in brackets are notes. */
enum frame_kind import_kind(const struct name *name);

#endif
