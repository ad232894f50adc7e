/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What clients load before they are confined (security/server_sandbox.h): they can then neither
 * open files of other users nor load libraries.
 */
#ifndef NET_CONFINED_H
#define NET_CONFINED_H

#include <stddef.h>

#include "base/error.h"

/* The size of the path of a copy. */
#define CONFINED_PATH_SIZE 32

/* Copy a file of at most 16 MiB into memory. Also another user can open it, by `ret_path` in /proc,
 * in this process and its children. The caller closes the descriptor. */
struct error *confined_copy_file(const char *path, int *ret,
				 char ret_path[CONFINED_PATH_SIZE]) MUST_CHECK;

/* Load what looks up names of hosts. */
void confined_load_resolver(void);

#endif
