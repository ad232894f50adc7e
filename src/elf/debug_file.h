/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the separate debug file of a program or library.
 *
 * The search is that of gdb (its manual, "Debugging Information in Separate Files"): by build-id in
 * /usr/lib/debug/.build-id, then by the name in .gnu_debuglink in the file's directory, in its
 * .debug, and in /usr/lib/debug. The debug file must have the same build-id; or, if the file has
 * none, the checksum in .gnu_debuglink.
 */
#ifndef ELF_DEBUG_FILE_H
#define ELF_DEBUG_FILE_H

#include "elf/elf.h"

/*
 * Opens the file `path`, absolute, as the process sees it, for reading; -1: there is none. The
 * descriptor is the caller's.
 */
typedef int open_file(void *context, const char *path);

/* Larger files are refused: their checksum is asked for before anything is known of them. */
#define DEBUG_FILE_SIZE_MAX  ((uint64_t)1 << 30)

#define DEBUG_FILE_NONE      (-1)
#define DEBUG_FILE_TOO_LARGE (-2) /* nor is there another one */

/* A descriptor of the debug file of `elf`, whose own path is `path` (NULL: unknown), the caller's;
 * or one of the above. */
int debug_file_open(const struct elf *elf, const char *path, open_file *open, void *context);

/*
 * A check for such an open_file. Returns the descriptor if the file may describe the open program:
 * it is trusted (base/file.h), or belongs to the owner of an untrusted program. (In a mount
 * namespace of their own, any user can place a debug file with the build-id of a program of root.)
 * Otherwise closes the descriptor and returns -1.
 */
int debug_file_check(int fd, int program);

#endif
