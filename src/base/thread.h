/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads beside the one that has always been there.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stdbool.h>

/*
 * Runs `work` in a thread that nobody joins and that gets no signals but those of its own crash:
 * others are for the one that has always been there. Its stack, 1 MiB, is for paths and buffers on
 * the way down, of which libdw has some. False: there can be none, and `work` is not called.
 */
bool thread_start(void *(*work)(void *), void *argument);

#endif
