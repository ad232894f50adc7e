/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A walk over all threads that looks at none of them, by BPF: what the kernel's own iterating
 * costs.
 */
#ifndef BENCH_EMPTY_WALK_H
#define BENCH_EMPTY_WALK_H

#include "capture/task_iterator.h"

/* Load it. Ends the program when it cannot be loaded. */
void empty_walk_open(void);

/* Open the iterator, and read one walk of it. */
void empty_walk_begin(void);
void empty_walk_run(void);

/* The run time of its walks, by the kernel's count. */
struct task_iterator_cost empty_walk_cost(void);

void empty_walk_close(void);

#endif
