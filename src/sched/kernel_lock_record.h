/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What kernel_lock.bpf.c tells of a thread. BPF programs include this as well.
 */
#ifndef SCHED_KERNEL_LOCK_RECORD_H
#define SCHED_KERNEL_LOCK_RECORD_H

/* The first four: enum of include/linux/hung_task.h, and their order. */
enum kernel_lock_kind {
	KERNEL_LOCK_MUTEX,
	KERNEL_LOCK_SEMAPHORE,
	KERNEL_LOCK_READ,  /* a rw_semaphore, by a reader */
	KERNEL_LOCK_WRITE, /* or a writer */
	KERNEL_LOCK_NONE,
};

struct kernel_lock {
	unsigned int kind;       /* enum kernel_lock_kind */
	unsigned int owner;      /* the thread that holds it; 0: not known, or several readers */
	unsigned char is_memory; /* it is the mmap_lock of the thread's process */
	unsigned char has_readers;
};

#endif
