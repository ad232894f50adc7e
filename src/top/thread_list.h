/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads to read, for engines that ask for one after another.
 */
#ifndef TOP_THREAD_LIST_H
#define TOP_THREAD_LIST_H

#include "os/tasks.h"
#include "top/wanted.h"

struct listed_thread {
	uint32_t tid, tgid;
};

/* Begins as {0}. */
struct thread_list {
	struct {
		ARRAY(struct listed_thread);
	} threads;
	struct tids pids, tids; /* of /proc, and of one process */
	struct file_buffer buffer;
};

/* List the wanted threads below `proc`; and the leader of a thread that is wanted by its own
 * number, for the name of its process. A process that is gone has none. */
struct error *thread_list_make(struct thread_list *list, int proc,
			       const struct wanted *wanted) MUST_CHECK;

void thread_list_deinit(struct thread_list *list);

#endif
