/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder os/: formats of the kernel. Parsers are pure (bytes in, struct out): stat, pairs
 * ("key: value" files), cpulist, cgroup, psi, counters, maps, taskstats. Readers take a directory
 * descriptor or a socket: tasks, birth, cgroup_tree, cgroup_path, map_query, taskstats_socket.
 * process_user determines the user who is charged for the time spent on reading a process.
 *
 * Never compare kernel versions: check for the file or the field. The answer of a system call about
 * a thread counts only if /proc is that of this PID namespace; with --proc-root or a recorded tree,
 * numbers belong to other threads, so taskstats and sched_getaffinity(2) are not used.
 */

/*
 * Lists processes and threads.
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

/* Behind the processes in `ret`, add their children in `proc`, and the children of these, until
 * there are `most`. A process that is gone, or may not be read, has none; nor has any where the
 * kernel has no list of children (CONFIG_PROC_CHILDREN). Returns 0 or ENOMEM. */
int tasks_add_children(int proc, size_t most, struct tids *ret);

/* The number of threads of the host, as `loadavg` tells (TASKS_LOADAVG, except in tests); 0: it
 * cannot be read. sysinfo(2) has only 16 bits for it. */
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
