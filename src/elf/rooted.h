/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens files relative to another root, as processes there see them: of a container, or of a copied
 * tree.
 *
 *	int root = openat(process, "root", O_PATH | O_CLOEXEC);
 *	int fd = rooted_open(root, "/usr/bin/program");
 *
 * Symbolic links are resolved within that root, and never lead out of it. Only regular files are
 * opened: opening a device or a pipe may have effects, or block forever.
 */
#ifndef ELF_ROOTED_H
#define ELF_ROOTED_H

/* Open a file for reading; the caller closes it. -1: it does not exist, or is not a regular file.
 * `path` is absolute. */
int rooted_open(int root, const char *path);

/* The same, but fails if a component of the path is a symbolic link: the owner of a mount namespace
 * chooses the targets of links in it, and this process may open more files than that owner. */
int rooted_open_unlinked(int root, const char *path);

/* The same for a link of /proc that leads to a file without its path (map_files), relative to
 * `dir`. */
int rooted_open_link(int dir, const char *link);

#endif
