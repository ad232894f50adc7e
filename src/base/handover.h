/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that root creates for the user of sudo(8) belong to that user.
 *
 *	handover_begin(uid, gid)            once, in main
 *	if (handover_is_due(dir, NULL))     nothing is at the name, in a directory of that user
 *		handover_file(dir, fd);     the file that we made
 *
 * Never anything that was there before, and only in directories that this user may write to by
 * their permission bits: what else root writes stays root's.
 */
#ifndef BASE_HANDOVER_H
#define BASE_HANDOVER_H

#include <stdbool.h>
#include <sys/stat.h>

struct sockaddr_un;

/* From now on. Without a call nothing is handed over. */
void handover_begin(uid_t uid, gid_t gid);
bool handover_has_begun(void);

/* Must a file created in `dir` be given to the user? `there` is the file that it replaces, which
 * must belong to the user; NULL: there is none. */
bool handover_is_due(int dir, const struct stat *there);

/* Give the user a file that this process has just created; `fd` may be of O_PATH. A failure is no
 * error: the file stays root's, as on a file system without owners. */
void handover_file(int dir, int fd);

/* mkdir(2), and hand the directory over; 0 or -1 with errno. */
int handover_mkdir(const char *path, mode_t mode);

/* bind(2) to a path, and hand the file of the socket over; 0 or -1 with errno. */
int handover_bind(int socket, const struct sockaddr_un *address);

#endif
