/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Confines the process that answers network requests.
 *
 * The process has no capabilities. If it was root, it changes to another user. No other process may
 * read its memory or trace it. It keeps only the given descriptors. A seccomp filter allows to
 * read, write and accept on them, to wait, and to use memory that is not executable. All other
 * system calls fail with EPERM: opening files, creating sockets, connections, processes and
 * threads, running programs, and sending signals to other processes.
 */
#ifndef SECURITY_SERVER_SANDBOX_H
#define SECURITY_SERVER_SANDBOX_H

#include <stddef.h>

#include "base/error.h"

/*
 * Confine this process for the rest of its life. It must have a single thread. The kernel kills it
 * when its parent ends. Standard error and the `count` descriptors in `kept`, which is sorted, stay
 * open; all others are closed, and standard input and output become /dev/null.
 *
 * Call it before privileges_keep(), since changing the user requires CAP_SETUID and CAP_SETGID.
 * Root without them, as in some containers, stays root but loses its capabilities.
 */
struct error *server_sandbox_enter(int *kept, size_t count) MUST_CHECK;

#endif
