/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The open files of a process, for the inspector: those that its threads wait at, then sockets with
 * bytes in their queues, files, other sockets, pipes, and the rest.
 *
 *	struct open_files files;
 *	if (open_files_read(&look, tids, count, &files))
 *		open_files_print(&files, out);
 *	open_files_deinit(&files);
 *
 * Targets are of /proc/<pid>/fd, offsets and flags of fdinfo (proc_pid_fdinfo(5)), sockets of the
 * network namespace of the process (os/socket_table.h). A process may have a million: of those with
 * the lowest numbers, OPEN_FILES_MOST are read.
 */
#ifndef TOP_OPEN_FILES_H
#define TOP_OPEN_FILES_H

#include <stdio.h>

#include "base/array.h"
#include "top/wait_chain.h"

#define OPEN_FILES_MOST 4096

enum open_file_kind { OPEN_PATH, OPEN_SOCKET, OPEN_PIPE, OPEN_OTHER };

struct open_file {
	uint32_t number; /* the descriptor */
	enum open_file_kind kind;
	bool is_awaited;              /* a thread is in a call that waits at it */
	bool is_polled;               /* among others, in poll(2), select(2) or epoll_wait(2) */
	bool is_known;                /* a socket that has been found, so `what` is whole */
	bool has_info;                /* the next two */
	int flags;                    /* of open(2) */
	uint64_t offset;              /* of a path */
	uint64_t inode;               /* of sockets and pipes */
	uint64_t bytes_out, bytes_in; /* in the queues of a socket */
	bool is_listener;             /* bytes_in are connections */
	char what[160];               /* safe to print, cut */
};

struct open_files {
	ARRAY(struct open_file); /* the most important first */
	size_t total;            /* descriptors of the process; 0: more than those read */
	bool is_cut;             /* not all were read: too many, or the time was over */
	int failed;              /* the errno of reading the directory; else 0 */
};

/* Read those of the process that the threads belong to: the first one's. False: the kernel does not
 * answer, or there is no memory. */
bool open_files_read(struct wait_look *look, const uint32_t *tids, size_t count,
		     struct open_files *ret);

/* Ten lines and a heading; nothing of a process without files. */
void open_files_print(const struct open_files *files, FILE *out);

void open_files_deinit(struct open_files *files);

#endif
