/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Confines processes that read what clients of a server send, or what servers answer.
 *
 * Such a process has no capabilities. If it was root, it changes to another user. No other process
 * may read its memory or trace it. It keeps only the given descriptors. A seccomp filter allows the
 * calls of its role, and memory that is not executable. All other calls fail with EPERM: opening
 * files, creating sockets, connections and threads, running programs, and sending signals to other
 * processes. A role that sends requests may connect to servers (not to sockets of this host),
 * create threads, and open files for reading, as its library does for certificates and names of
 * hosts.
 */
#ifndef SECURITY_SERVER_SANDBOX_H
#define SECURITY_SERVER_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum server_role {
	SERVER_ANSWERS, /* reads, writes and accepts on its descriptors, and waits for them */
	SERVER_FORKS,   /* receives files, and starts a process to parse them: SERVER_PARSES */
	SERVER_PARSES,  /* reads and writes its descriptors */
	SERVER_STARTS,  /* receives sockets, and starts a process for each: SERVER_SENDS */
	SERVER_SENDS,   /* receives files, and sends them to servers */
};

/*
 * Confine this process for the rest of its life. It must have a single thread. The kernel kills it
 * when its parent ends. Standard error and the `count` descriptors in `kept`, which is sorted, stay
 * open; all others are closed, and standard input and output become /dev/null.
 *
 * Call it before privileges_keep(), since changing the user requires CAP_SETUID and CAP_SETGID.
 * Root without them, as in some containers, stays root but loses its capabilities.
 */
struct error *server_sandbox_enter(enum server_role role, int *kept, size_t count) MUST_CHECK;

/* Change to the role SERVER_PARSES, for good, in a child of a process with SERVER_FORKS. The child
 * can then no longer change signal handlers or its signal mask, so it cannot avoid that a timer
 * ends it. */
struct error *server_sandbox_parse(void) MUST_CHECK;

/* Change to the role SERVER_SENDS, for good, in a child of a process with SERVER_STARTS: it can
 * start no more processes. The kernel kills it when its parent ends. */
struct error *server_sandbox_send(void) MUST_CHECK;

/* Restrict the system calls of the calling thread, and of those that it starts, to those of the
 * role SERVER_SENDS. PR_SET_NO_NEW_PRIVS must be set. False: the kernel refuses the filter. */
bool server_sandbox_send_in_thread(void);

#endif
