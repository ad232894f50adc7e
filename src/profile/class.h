/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The class of an interval: what a thread does, by the kernel's scheduler. BPF programs include
 * this file too.
 *
 * A class is the state of a task when it leaves its CPU (TASK_* in include/linux/sched.h),
 * determined by its bits. Thread states (state/state.h) are finer: they also tell what a thread
 * waits for. So classes are a projection of the table of states: each has the default state of its
 * threads, which the rules of sched/wait_rules.bpf.h refine.
 */
#ifndef PROFILE_CLASS_H
#define PROFILE_CLASS_H

#include "state/state.h"

/*
 * CLASS(id, state, name, letter, is off the CPU, what it is)
 *
 * `state` is of enum state; COUNT: a class without time. `name` is what every output has; the
 * letter is the one of ps(1) where it has one.
 */
#define PROFILE_CLASSES(CLASS)                                                                     \
	CLASS(ON_CPU, EXEC, "on-cpu", 'O', 0, "it ran")                                            \
	CLASS(RUNNABLE, RUNNABLE, "runnable", 'R', 1, "preempted or woken, and waiting for a CPU") \
	CLASS(INTERRUPTIBLE, SLEEP, "interruptible", 'S', 1, "asleep; signals wake the thread")    \
	CLASS(UNINTERRUPTIBLE, SLEEP, "uninterruptible", 'D', 1,                                   \
	      "asleep; signals do not wake the thread")                                            \
	CLASS(IO_WAIT, SLEEP_DISK, "io-wait", 'B', 1, "waiting for block I/O to complete")         \
	CLASS(STOPPED, STOPPED, "stopped", 'T', 1, "stopped by a signal")                          \
	CLASS(TRACED, STOPPED, "traced", 't', 1, "stopped by a debugger")                          \
	CLASS(PARKED, IDLE_WORKER, "parked", 'P', 1,                                               \
	      "a parked kernel thread, e.g. of an offline CPU")                                    \
	CLASS(IDLE, IDLE_WORKER, "idle", 'I', 1,                                                   \
	      "a kernel thread waiting for work, not counted as load")                             \
	CLASS(EVENT, COUNT, "event", 'E', 0, "a probe hit; it has a count and no time")

enum profile_class {
#define CLASS_ENUM(id, ...) CLASS_##id,
	PROFILE_CLASSES(CLASS_ENUM)
#undef CLASS_ENUM
		CLASS_COUNT
};

#endif
