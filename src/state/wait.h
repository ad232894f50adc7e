/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Kinds of waits, by system call. BPF programs include this as well.
 */
#ifndef STATE_WAIT_H
#define STATE_WAIT_H

#include "state/state.h"

/* Numbers beyond are not known. Those of x86_64 and aarch64 end below 480. */
#define WAIT_SYSCALLS 512

enum wait_kind {
	WAIT_OTHER,
	WAIT_NETWORK, /* it takes a socket */
	WAIT_FILE,    /* its first argument is an open file, which says what it waits for */
	WAIT_OPEN,    /* it opens a file: a FIFO, where its stack says so */
	WAIT_DISK,    /* it waits for storage where signals do not wake it */
	WAIT_TIMER,
	WAIT_CHILD,  /* for a process to end or stop */
	WAIT_SIGNAL, /* for work that comes as a signal */
	WAIT_EPOLL,  /* for any of several files */
	WAIT_ACCEPT, /* for a connection */
	WAIT_POLL,   /* for any of so many files as its second argument says; of none, for a time */
	WAIT_SELECT, /* the same, its first argument */
	WAIT_FUTEX,  /* futex(2): a lock or something else, by operation and value */
	WAIT_FUTEX_WAIT,  /* futex_wait(2): by value */
	WAIT_FUTEX_WAITV, /* futex_waitv(2): its values are in memory of the program */
	WAIT_LOCK,        /* of a file */
	WAIT_FCNTL,       /* the same, if its second argument is a command that waits for one */
};

/*
 * Does a thread that waits for a futex with this value wait for a lock? By convention, the value is
 * 2 for a contended lock (Drepper, "Futexes Are Tricky", mutex3: mutexes of glibc, Go and Rust), 3
 * for glibc's write locks (nptl/pthread_rwlock_common.c), or the number of the owner with the top
 * bit set (FUTEX_WAITERS: robust and PI locks of glibc, all locks of musl). That number is at most
 * PID_MAX_LIMIT (include/linux/threads.h). Conditions, semaphores, joins and parked threads use
 * other values, such as -1: they wait for work (STATE_IDLE_COND).
 */
#define WAIT_OWNER_MAX    (4u << 20)
#define WAIT_OWNER(value) ((value)&0x3fffffffu)
#define WAIT_HAS_OWNER(value) \
	((value)&0x80000000u && WAIT_OWNER(value) && WAIT_OWNER(value) <= WAIT_OWNER_MAX)
#define WAIT_IS_LOCK(value) ((value) == 2 || (value) == 3 || WAIT_HAS_OWNER(value))

static inline __attribute__((always_inline)) unsigned wait_state_of_value(unsigned value)
{
	return WAIT_IS_LOCK(value) ? STATE_LOCK_FUTEX : STATE_IDLE_COND;
}

/* Commands of include/uapi/linux/futex.h and include/uapi/linux/fcntl.h. */
#define WAIT_FUTEX_CMD_MASK 0x7f
#define WAIT_FUTEX_LOCK_PI  6
#define WAIT_FUTEX_LOCK_PI2 13
#define WAIT_SETLKW         7
#define WAIT_OFD_SETLKW     38

/*
 * The state of a thread that waits in a call of this kind, by the call's first three arguments.
 * Arguments that are an int to the kernel may have anything in their upper half. `is_deep`: in a
 * sleep that signals do not end. STATE_COUNT: the file (WAIT_FILE) or the stack
 * (WAIT_OPEN) decides.
 */
static inline __attribute__((always_inline)) unsigned wait_state_of_call(unsigned kind,
									 unsigned long long first,
									 unsigned long long second,
									 unsigned long long third,
									 _Bool is_deep)
{
	unsigned command;

	switch (kind) {
	case WAIT_FILE:
	case WAIT_OPEN:
		return STATE_COUNT;
	case WAIT_NETWORK:
		return STATE_SLEEP_NETWORK;
	case WAIT_DISK:
		return is_deep ? STATE_SLEEP_DISK : STATE_SLEEP_OTHER;
	case WAIT_TIMER:
		return STATE_SLEEP_TIMER;
	case WAIT_CHILD:
		return STATE_SLEEP_CHILD;
	case WAIT_SIGNAL:
		return STATE_IDLE;
	case WAIT_EPOLL:
		return STATE_IDLE_POLL;
	case WAIT_ACCEPT:
		return STATE_IDLE_ACCEPT;
	case WAIT_POLL:
		return (unsigned)second ? STATE_IDLE_POLL : STATE_SLEEP_TIMER;
	case WAIT_SELECT:
		return (unsigned)first ? STATE_IDLE_POLL : STATE_SLEEP_TIMER;
	case WAIT_FUTEX:
		command = (unsigned)second & WAIT_FUTEX_CMD_MASK;
		if (command == WAIT_FUTEX_LOCK_PI || command == WAIT_FUTEX_LOCK_PI2)
			return STATE_LOCK_FUTEX;
		return wait_state_of_value((unsigned)third);
	case WAIT_FUTEX_WAIT:
		return wait_state_of_value((unsigned)second);
	case WAIT_FUTEX_WAITV:
		return STATE_LOCK_FUTEX;
	case WAIT_LOCK:
		return STATE_LOCK_KERNEL;
	case WAIT_FCNTL:
		command = (unsigned)second;
		return command == WAIT_SETLKW || command == WAIT_OFD_SETLKW ? STATE_LOCK_KERNEL
									    : STATE_SLEEP_OTHER;
	}
	return STATE_SLEEP_OTHER;
}

#ifndef __bpf__
/* The kind of each system call of the machine that this is compiled for. */
extern const unsigned char wait_kinds[WAIT_SYSCALLS];

/* The name of a system call; NULL: unknown. */
const char *wait_syscall_name(int number);
#endif

#endif
