/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Presets of filters: the files that are in the program, and those of users.
 */
#ifndef PROFILE_PRESET_H
#define PROFILE_PRESET_H

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

/* A file of terms that the program has in it. */
struct preset {
	const char *name;
	const char *begin, *end;
};

/* Sorted by name. */
extern const struct preset presets[];
extern const size_t preset_count;

/* The text of a preset by its name: of a file of the user, or else the built-in one. The caller
 * frees it. `path` (which is freed by the caller too) is what messages call it. */
struct error *preset_read(const char *name, char **path, char **text, size_t *length) MUST_CHECK;

#endif
