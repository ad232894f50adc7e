/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When windows end: by the clock, whatever reading and printing one takes.
 */
#ifndef BASE_GRID_H
#define BASE_GRID_H

#include <stdint.h>

/*
 * The window that was to end at `due_ns` ended at `ended_ns`, and it is `now_ns`. The next ends at
 * `due_ns` and some intervals: the first of these times that is still to come, and leaves it half
 * of an interval at least. Who was stopped for long goes on in step, and not with a window of
 * nothing.
 */
uint64_t grid_next(uint64_t due_ns, uint64_t interval_ns, uint64_t ended_ns, uint64_t now_ns);

#endif
