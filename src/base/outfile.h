/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that appears whole or not at all.
 *
 * The bytes go to a file without a name; outfile_commit gives it the name in one step. A failed
 * or killed run leaves what was there before, and nothing beside it. Where the file system has no
 * nameless files they wait in memory, and go to a temporary name at the commit.
 *
 * "-" is standard output, and what exists and is not a regular file (a device, a pipe) is written
 * to directly: neither can be replaced. Symbolic links are followed.
 *
 * The directory may be one that everybody writes to, such as /tmp. A symbolic link or FIFO that
 * belongs neither to us nor to root is an error; a regular file of another user is replaced, and
 * decides nothing about the new one. Temporary names are random, and never those of a file that
 * exists.
 */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include <stddef.h>

#include "base/error.h"

struct outfile {
	int fd;
	int dir;         /* where the name will be, or -1 when written in place */
	char *base;      /* the last component of the name */
	char *path;      /* as the user gave it, for messages */
	char *temporary; /* name of the temporary file, or NULL while it has none */
	bool in_memory;  /* the file system has no nameless files */
	bool is_due;     /* it goes to the user of sudo (base/handover.h) */
};

/* The mode of a new file: readable by its owner only, since a snapshot contains what /proc shows
 * only to root (I/O counters, executables). An existing file keeps its permissions (0777) if it
 * belongs to this user, or to the user of sudo that gets the file, and has one name. */
#define OUTFILE_MODE 0600

/* Check that a file can be created there, before hours of measuring. Opens nothing. */
struct error *outfile_check(const char *path) MUST_CHECK;

struct error *outfile_open(struct outfile *file, const char *path) MUST_CHECK;

/* The same in this directory, wherever that has been moved to: `name` has no slash, and names a
 * file or nothing. `path` is what messages call it. */
struct error *outfile_open_at(struct outfile *file, int dir, const char *name,
			      const char *path) MUST_CHECK;

/* Everything or an error. `context` is the struct outfile, so it can serve as a zstream_sink. */
struct error *outfile_write(void *context, const void *bytes, size_t length) MUST_CHECK;

/* Wait until the disk has the bytes: without that, a host that crashes after the commit may leave
 * the name of an empty file. Not where the file system has no nameless files, and waiting for what
 * cannot be waited for is no error. */
struct error *outfile_sync(struct outfile *file) MUST_CHECK;

/* Give the file its name. Afterwards only outfile_close may be called. */
struct error *outfile_commit(struct outfile *file) MUST_CHECK;

/* Releases everything; without a commit the file is gone. Takes a half-open or closed one. */
void outfile_close(struct outfile *file);

#endif
