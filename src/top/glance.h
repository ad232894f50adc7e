/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads of a thread's files and memory for wait_chain.h: each with a limit of time and of bytes.
 * They run in a guarded, confined thread (base/guard.h), so everything is in the job.
 */
#ifndef TOP_GLANCE_H
#define TOP_GLANCE_H

#include "os/tasks.h"
#include "top/open_files.h"
#include "top/wait_chain.h"

/* The bytes of one file that are read: lists of mappings and locks may be long. */
#define GLANCE_BYTES ((size_t)1 << 20)

struct glance {
	struct wait_look *look;
	int fd;           /* that is being read; -1: none */
	struct tids tids; /* of a process: its threads, or its descriptors */
	struct tids pids;
	uint32_t tid;               /* where the chain begins */
	void (*work)(void *glance); /* that is done */
	uint64_t cpu_ns;            /* that it took */
	bool found;
	bool is_late; /* something was not read, since the time was over */
	struct wait_chain chain;
	struct open_files files;
	char bytes[GLANCE_BYTES]; /* of the file that was read last */
};

/* A job; NULL without memory. */
struct glance *glance_create(struct wait_look *look, uint32_t tid);
void glance_destroy(struct glance *glance);

/* Run `work` with the job. False: it found nothing, or was given up, and the job is gone. */
bool glance_do(struct glance *glance, void (*work)(void *glance));

/* The same with a job of its own that has the chain; false: the chain is untouched. */
bool glance_run(void (*work)(void *glance), struct wait_look *look, uint32_t tid,
		struct wait_chain *chain);

/* The descriptor that is the first argument of a call that waits at it. False: it has none. */
bool glance_call_file(const struct task_call *call, uint32_t *ret);

/* A directory below /proc: the descriptor, in glance->fd, or false. */
bool glance_open(struct glance *glance, const char *path, int flags);
void glance_close(struct glance *glance);

/* The file below /proc, up to GLANCE_BYTES; "" where it cannot be read. Good until the next. */
struct text glance_file(struct glance *glance, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Memory of a thread: as read_memory of struct wait_host. */
size_t glance_memory(struct glance *glance, uint32_t tid, uint64_t address, void *into,
		     size_t size);

/* What a thread has open under a number, safe to print: "a socket", "a pipe", the kind of an
 * anonymous file, or a path; and the inode of a socket or pipe, else 0. False: it cannot be read.
 */
bool glance_descriptor(struct glance *glance, uint32_t tid, uint32_t number, char *ret, size_t room,
		       enum open_file_kind *ret_kind, uint64_t *ret_inode);

/* The target of a link below /proc, cut to the room, and with a NUL. False: there is none. */
bool glance_link(struct glance *glance, const char *path, char *ret, size_t room);

#endif
