/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a thread does with a stretch of its time, one thing at a time: a row each. BPF programs
 * include this too, so it needs nothing.
 *
 * The states are those that the kernel has a task in when it leaves its CPU (TASK_* in
 * include/linux/sched.h), told apart by their bits.
 */
#ifndef PROFILE_CLASS_H
#define PROFILE_CLASS_H

/*
 * CLASS(id, name, letter, is off the CPU, what it is)
 *
 * `name` is what every output has; the letter is the one of ps(1) where it has one.
 */
#define PROFILE_CLASSES(CLASS)                                                               \
	CLASS(ON_CPU, "on-cpu", 'O', 0, "it ran")                                            \
	CLASS(RUNNABLE, "runnable", 'R', 1, "preempted or woken, and waiting for a CPU")     \
	CLASS(INTERRUPTIBLE, "interruptible", 'S', 1, "asleep; signals wake the thread")     \
	CLASS(UNINTERRUPTIBLE, "uninterruptible", 'D', 1,                                    \
	      "asleep; signals do not wake the thread")                                      \
	CLASS(IO_WAIT, "io-wait", 'B', 1, "waiting for block I/O to complete")               \
	CLASS(STOPPED, "stopped", 'T', 1, "stopped by a signal")                             \
	CLASS(TRACED, "traced", 't', 1, "stopped by a debugger")                             \
	CLASS(PARKED, "parked", 'P', 1, "a parked kernel thread, e.g. of an offline CPU")    \
	CLASS(IDLE, "idle", 'I', 1, "a kernel thread waiting for work, not counted as load") \
	CLASS(EVENT, "event", 'E', 0, "a probe hit; it has a count and no time")

enum profile_class {
#define CLASS_ENUM(id, name, letter, off, prose) CLASS_##id,
	PROFILE_CLASSES(CLASS_ENUM)
#undef CLASS_ENUM
		CLASS_COUNT
};

#endif
