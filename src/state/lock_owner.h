/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that holds a lock of a program, from memory of the program.
 *
 *	if (lock_wait_of(number, arguments, &wait))
 *		got = read(wait.from, bytes, LOCK_WAIT_BYTES);
 *		tid = lock_wait_owner(&wait, bytes, got);
 *
 * Locks of glibc are laid out as pthread_mutex_t and pthread_rwlock_t of 64-bit machines in its
 * sysdeps/nptl/bits/pthreadtypes.h. The memory is the program's, and may hold anything: a number is
 * a candidate, and the caller looks whether the program has such a thread. Threads are numbered as
 * in the PID namespace of the program.
 */
#ifndef STATE_LOCK_OWNER_H
#define STATE_LOCK_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lock_kind {
	LOCK_MUTEX,  /* pthread_mutex_t: the word, then its owner at +8 */
	LOCK_OWNER,  /* the word has the owner: robust and priority-inheriting mutexes, musl */
	LOCK_RWLOCK, /* pthread_rwlock_t: __cur_writer */
	LOCK_JOIN,   /* the word is the thread that is to end, as pthread_join(3) waits */
};

#define LOCK_WAIT_BYTES 24

struct lock_wait {
	enum lock_kind kind;
	uint64_t address; /* of the futex */
	uint32_t value;   /* that the waiter expects there; of LOCK_OWNER by PI: 0 */
	bool is_private;  /* no other process can hold it */
};

/* Does a thread in this system call wait for a lock, or for the end of a thread? The arguments are
 * six. Condition variables, semaphores and parked threads are none. */
bool lock_wait_of(int32_t number, const uint64_t *arguments, struct lock_wait *ret);

/* The owner according to `size` bytes at `wait->address`, at most LOCK_WAIT_BYTES of which are
 * looked at; 0: none, or not told: the lock has just been released, readers hold it, or it is no
 * such lock. */
uint32_t lock_wait_owner(const struct lock_wait *wait, const void *bytes, size_t size);

#endif
