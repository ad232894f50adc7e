/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directories of this user, for files that programs write unasked: caches and settings.
 *
 *	err = own_base_open(path, OWN_LINKS, &base);           $XDG_CACHE_HOME
 *	err = own_dir_open(base, "ctprof", path, &dir);        made if it is missing
 *
 * Nothing is written into a home directory of another user, as that of sudo(8) may be.
 */
#ifndef BASE_OWN_DIR_H
#define BASE_OWN_DIR_H

#include "base/error.h"

/* May symbolic links lead to the base? Links in a home directory of another user could lead to a
 * directory of ours. */
enum own_links { OWN_LINKS, OWN_NO_LINKS };

/* The directory that those of all programs are in: it must belong to this user (the effective one).
 * It is made if it is missing and its parent belongs to this user. */
struct error *own_base_open(const char *path, enum own_links links, int *ret) MUST_CHECK;

/* The directory `name` in it, which is made if it is missing: it must be no link, belong to this
 * user, and no other user may write to it. `path` is what messages call its parent. */
struct error *own_dir_open(int parent, const char *name, const char *path, int *ret) MUST_CHECK;

#endif
