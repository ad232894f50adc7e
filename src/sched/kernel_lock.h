/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock of the kernel that a thread waits for: mmap_lock of its memory, for one, for which all
 * threads of a process wait while one of them changes its mappings.
 */
#ifndef SCHED_KERNEL_LOCK_H
#define SCHED_KERNEL_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/kernel_lock_record.h"

/* Load the program, where that takes privileges that the caller drops afterwards. Needs CAP_BPF and
 * CAP_PERFMON. Without it kernel_lock_of() does so. */
void kernel_lock_load(void);

/* Ask the kernel about a thread, by a number of our PID namespace. Needs CAP_BPF and CAP_PERFMON at
 * the first call, which loads the program, and CAP_BPF at others. False: it waits for none, or that
 * is not known. Not for several threads at a time. */
bool kernel_lock_of(uint32_t tid, struct kernel_lock *ret);

#endif
