/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When windows end: by the clock, whatever reading and printing one takes.
 */
#ifndef BASE_GRID_H
#define BASE_GRID_H

#include <stdint.h>

/*
 * The end of the next window, after a window that was due at `due_ns` and ended at `ended_ns`; the
 * time is `now_ns`. It is the first `due_ns` plus a multiple of the interval that is in the future
 * and leaves the window at least half an interval. So a process that was stopped for long stays in
 * step and has no empty windows.
 */
uint64_t grid_next(uint64_t due_ns, uint64_t interval_ns, uint64_t ended_ns, uint64_t now_ns);

#endif
