/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The folder state/: what threads do with their time. state.h has a row for each state, wait.h for
 * each system call that waits, both for BPF programs too: a name in the kernel, in JSON and on the
 * screen is one row. A reading (reading.h) is what every thread had done as of a moment, waits in
 * progress included, so times only grow; a window (window.h) is the difference of two; view.h
 * filters its threads, adds them up into rows and orders those.
 */

/*
 * Thread State Analysis: what a thread does with its time, one thing at a time (Gregg, "The TSA
 * Method"). A row each. BPF programs include this too, so it needs nothing.
 *
 * A nanosecond of a thread is in exactly one of the rows below, so they add up to the time it was
 * watched. Seven of them are what people look at (STATE_MAINS); the others are parts of these. A
 * row that is a part of no other but has parts, as STATE_EXEC, holds what nobody could divide
 * further: the whole state is the sum of that and its parts, which stand behind it. doc/top.md has
 * the rule for each.
 */
#ifndef STATE_STATE_H
#define STATE_STATE_H

/*
 * STATE(id, main, name, label, letter, what it is)
 *
 * `name` is what every output has; the label is short, for the heads of columns.
 */
#define THREAD_STATES(STATE)                                                                       \
	STATE(EXEC, EXEC, "exec", "EXEC", 'X', "it ran")                                           \
	STATE(EXEC_USER, EXEC, "exec_user", "USER", 'u', "it ran its own code")                    \
	STATE(EXEC_SYSTEM, EXEC, "exec_system", "SYS", 's', "it ran the kernel's code")            \
	STATE(RUNNABLE, RUNNABLE, "runnable", "RUNQ", 'R', "it could run, and waited for a CPU")   \
	STATE(PAGING, PAGING, "paging", "PAGING", 'P',                                             \
	      "it waited for its memory to come back from swap")                                   \
	STATE(SLEEP, SLEEP, "sleep", "SLEEP", 'S', "it waited; for what is not known")             \
	STATE(SLEEP_DISK, SLEEP, "sleep_disk", "DISK", 'D', "it waited for storage")               \
	STATE(SLEEP_NETWORK, SLEEP, "sleep_network", "NET", 'N', "it waited at a socket")          \
	STATE(SLEEP_PIPE, SLEEP, "sleep_pipe", "PIPE", '|', "it waited at a pipe")                 \
	STATE(SLEEP_TIMER, SLEEP, "sleep_timer", "TIMER", 'z', "it slept for a time")              \
	STATE(SLEEP_OTHER, SLEEP, "sleep_other", "OTHER", 'o', "it waited for something else")     \
	STATE(LOCK, LOCK, "lock", "LOCK", 'L', "it waited for a lock")                             \
	STATE(LOCK_FUTEX, LOCK, "lock_futex", "FUTEX", 'f', "it waited for a lock of its program") \
	STATE(LOCK_KERNEL, LOCK, "lock_kernel", "KLOCK", 'k',                                      \
	      "it waited for a lock of the kernel")                                                \
	STATE(IDLE, IDLE, "idle", "IDLE", '.', "it waited for work")                               \
	STATE(STOPPED, STOPPED, "stopped", "STOP", 'T', "it was stopped, traced or frozen")

enum state {
#define STATE_ENUM(id, ...) STATE_##id,
	THREAD_STATES(STATE_ENUM)
#undef STATE_ENUM
		STATE_COUNT
};

/* The seven, in the order of every output. */
#define STATE_MAINS(MAIN) \
	MAIN(EXEC) MAIN(RUNNABLE) MAIN(PAGING) MAIN(SLEEP) MAIN(LOCK) MAIN(IDLE) MAIN(STOPPED)

enum {
	STATE_MAIN_COUNT = 0
#define MAIN_ONE(id) +1
	STATE_MAINS(MAIN_ONE)
#undef MAIN_ONE
};

#endif
