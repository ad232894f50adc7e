/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread waits for, followed from thread to thread: a lock that another thread holds, which
 * waits for a file, and so on.
 *
 *	struct wait_look look = { .host = wait_host(), .until_ns = UINT64_MAX };
 *	struct wait_chain chain;
 *	if (wait_chain_follow(&look, tid, &chain))
 *		wait_sentence_print(...);
 *	wait_look_deinit(&look);
 *
 * Each link is read from /proc and from the memory of its process, one after the other, so a chain
 * is a glance at threads that go on meanwhile. A circle of waits is only called a deadlock if all
 * of it is found unchanged a moment later, without a switch in between, and no other thread of a
 * process could end one of the waits.
 *
 * The files and the memory belong to strangers: they are read by a confined thread with a limit of
 * time (base/guard.h), a fixed number of bytes, of at most WAIT_CHAIN_MOST threads. Locks of
 * programs other than one's own need CAP_SYS_PTRACE.
 */
#ifndef TOP_WAIT_CHAIN_H
#define TOP_WAIT_CHAIN_H

#include "os/task_call.h"
#include "os/tasks.h"
#include "sched/kernel_lock_record.h"
#include "state/lock_owner.h"

enum wait_link_kind {
	LINK_UNKNOWN,     /* its system call may not be read */
	LINK_RUNS,        /* or waits for a CPU */
	LINK_STOPPED,     /* by `object` */
	LINK_ENDED,       /* and was not waited for */
	LINK_CALL,        /* it waits in its system call, at `object` where that is not empty */
	LINK_OUTSIDE,     /* it waits, but in no system call */
	LINK_LOCK,        /* for the lock at `address` */
	LINK_JOIN,        /* for the end of the next thread */
	LINK_CHILD,       /* for a child: the next, if there is only one */
	LINK_FILE_LOCK,   /* for a lock of a file, `object` */
	LINK_KERNEL_LOCK, /* for a lock of the kernel, in its system call or at a page fault */
};

#define WAIT_OBJECT_MAX 320

struct wait_link {
	enum wait_link_kind kind;
	uint32_t tid, tgid;
	uint32_t threads; /* of its process */
	uint64_t switches;
	struct task_call call;
	struct lock_wait lock;        /* of LINK_LOCK and LINK_JOIN */
	struct kernel_lock kernel;    /* of LINK_KERNEL_LOCK */
	bool has_next;                /* it waits for a thread, which may be no link any more */
	uint64_t inode;               /* of a socket or pipe that it waits at; else 0 */
	uint32_t descriptor;          /* under which it has that open */
	bool is_fifo;                 /* `object` is the path of one, which it has open there */
	uint32_t children;            /* of LINK_CHILD: any of so many, the next is one of them */
	uint64_t peer;                /* of a Unix socket, once it was looked up: the other's */
	char name[64];                /* all texts are safe to print */
	bool is_deep;                 /* in a sleep that signals do not end */
	bool has_memory;              /* of a program: it is no thread of the kernel */
	bool is_namespaced;           /* its process numbers threads by another PID namespace */
	char wchan[64];               /* the kernel's function that it waits in; "": not told */
	char object[WAIT_OBJECT_MAX]; /* what it waits at: a path, "socket ...", "pipe ..." */
};

#define WAIT_CHAIN_MOST 8

struct wait_chain {
	struct wait_link links[WAIT_CHAIN_MOST]; /* each waits for the next */
	size_t count;
	/* The last one waits for links[cycle] again: a deadlock from there on. `count`: there is
	 * none. */
	size_t cycle;
	bool is_cut; /* it goes on, beyond WAIT_CHAIN_MOST */
};

/* Where threads are read: in tests, files and memory of their own. */
struct wait_host {
	int proc; /* a descriptor of /proc, which stays the caller's */
	/* Memory of a thread, as process_memory_read() of process/process_memory.h. */
	size_t (*read_memory)(uint32_t tid, uint64_t address, void *into, size_t size);
	/* As kernel_lock_of() of sched/kernel_lock.h, in the caller's thread; NULL: none is known.
	 */
	bool (*kernel_lock)(uint32_t tid, struct kernel_lock *ret);
};

/* The one of this host; NULL: /proc cannot be opened, or numbers there are not ours. */
const struct wait_host *wait_host(void);

/* Chains that are read together. */
struct wait_look {
	const struct wait_host *host;
	/* Nothing is read after this time of CLOCK_MONOTONIC: a stranger may slow down each of its
	 * files by as much as one call is waited for. */
	uint64_t until_ns;
	/* Of /proc/locks, which the kernel makes of the locks of all processes: read once. */
	char *locks; /* NULL: not yet */
	size_t locks_length;
	uint64_t cpu_ns; /* of the confined thread, for all that was read in time */
};

void wait_look_deinit(struct wait_look *look);

/* The threads that a process has now, ascending, in `ret`, which the caller frees. False: it is
 * gone, or as below. */
bool wait_look_threads(struct wait_look *look, uint32_t tgid, struct tids *ret);

/* False, with `ret` undefined: the thread is gone, the kernel does not answer, the time is over, or
 * there is no memory. */
bool wait_chain_follow(struct wait_look *look, uint32_t tid, struct wait_chain *ret);

/* Look up the other ends of the pipes and sockets that the last link waits at, and put them into
 * its `object`. This reads the descriptors of all processes that may be looked at, for a tenth of a
 * second at most. */
void wait_chain_name_ends(struct wait_look *look, struct wait_chain *chain);

#endif
