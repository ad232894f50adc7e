/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The folder state/: divides the time of threads into states. state.h has a row for each state,
 * wait.h for each system call that waits; BPF programs include both, so a name in the kernel, in
 * JSON and on the screen is one row. A reading (reading.h) has the times of every thread up to a
 * point in time, including waits in progress, so times only grow; a window (window.h) is the
 * difference of two readings; view.h filters the threads of a window, sums them up into rows, and
 * orders these.
 */

/*
 * Thread states: exclusive kinds of a thread's time, as in Thread State Analysis (Gregg, "The TSA
 * Method"), with a row for each. BPF programs include this as well.
 *
 * A nanosecond of a thread is in exactly one of the rows below, so they add up to the time for
 * which it was tracked. Seven rows are main states (STATE_MAINS); the others are parts of these.
 * The row of a main state with parts, such as STATE_EXEC, has only the time that is in none of the
 * parts: the whole state is the sum of that row and its parts, which follow it. doc/top.md has the
 * rule of each state.
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
	STATE(SLEEP_CHILD, SLEEP, "sleep_child", "CHILD", 'c', "it waited for a child process")    \
	STATE(SLEEP_OTHER, SLEEP, "sleep_other", "OTHER", 'o', "it waited for something else")     \
	STATE(LOCK, LOCK, "lock", "LOCK", 'L', "it waited for a lock")                             \
	STATE(LOCK_FUTEX, LOCK, "lock_futex", "FUTEX", 'f', "it waited for a lock of its program") \
	STATE(LOCK_KERNEL, LOCK, "lock_kernel", "KLOCK", 'k',                                      \
	      "it waited for a lock of the kernel")                                                \
	STATE(IDLE, IDLE, "idle", "IDLE", '.', "it waited for work")                               \
	STATE(IDLE_POLL, IDLE, "idle_poll", "POLL", 'p', "it waited for any of its files")         \
	STATE(IDLE_COND, IDLE, "idle_cond", "COND", 'w',                                           \
	      "it waited at a condition variable, semaphore or join")                              \
	STATE(IDLE_ACCEPT, IDLE, "idle_accept", "ACCEPT", 'a', "it waited for a connection")       \
	STATE(IDLE_WORKER, IDLE, "idle_worker", "WORKER", 'i',                                     \
	      "a thread of the kernel that waited for work")                                       \
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
