/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detached threads.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stdbool.h>

/*
 * Runs `work` in a detached thread. It gets no signals but those of its own crash: others are for
 * the first thread of the process. Its stack has 1 MiB, for paths and buffers on the way down, of
 * which libdw has some. False: the thread cannot be created, and `work` is not called.
 */
bool thread_start(void *(*work)(void *), void *argument);

/*
 * The same for work on files and memory of other processes, which may be hostile: the thread is
 * confined before `work` is called (thread_confine_parsers). Threads that it creates are confined
 * with it.
 */
bool thread_start_parser(void *(*work)(void *), void *argument);

/* `confine` is called first in each thread of thread_start_parser(). Set it before there is one;
 * without it such threads are like others, as in tests. */
void thread_confine_parsers(void (*confine)(void));

#endif
