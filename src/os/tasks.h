/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes and threads there are.
 */
#ifndef OS_TASKS_H
#define OS_TASKS_H

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"

struct tids {
	ARRAY(uint32_t);
};

/* The numbers that name directories of `dir` (/proc, or /proc/<pid>/task), ascending, replacing
 * what `ret` held. Returns 0 or an errno. */
int tasks_list(int dir, struct tids *ret);

/* How many threads the host has, as `loadavg` tells, which is TASKS_LOADAVG but in tests; 0: it
 * cannot be read. sysinfo(2) has 16 bits for it. */
#define TASKS_LOADAVG "/proc/loadavg"
uint32_t tasks_count(const char *loadavg);

/* Is a thread of this number there, and not dead? */
bool task_is_alive(uint32_t number);

/* The thread group of a process or thread, as its status in `proc` (a directory) says. Returns 0 or
 * the errno of reading it: ENOENT and ESRCH where there is none; EBADMSG where the file does not
 * name the group. */
int task_leader(int proc, uint32_t number, struct file_buffer *buffer, uint32_t *ret);

/* Is `dir` the /proc of our own PID namespace? Only then do thread numbers mean the same to system
 * calls. */
bool tasks_are_ours(int proc_dir);

#endif
