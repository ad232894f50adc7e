/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Confines the process that answers requests of the network.
 *
 * It has no capability and, where it was root, another user; no other program may read its memory
 * or trace it. It has no files but those that it keeps, and a seccomp filter allows to read, write
 * and accept on them, to wait, and to use memory that is not executable. It forbids to open files,
 * make sockets and connections, create processes and threads, run programs, send signals, and
 * everything else.
 */
#ifndef SECURITY_SERVER_SANDBOX_H
#define SECURITY_SERVER_SANDBOX_H

#include <stddef.h>

#include "base/error.h"

/*
 * Confine this process, which must have one thread, for good. It ends when its parent does. It
 * keeps its standard error and the `count` descriptors at `kept`, which are sorted here; all others
 * are closed, and standard input and output become /dev/null.
 *
 * Call it before privileges_keep(), for changing the user requires CAP_SETUID and CAP_SETGID. Root
 * without them, as in some containers, stays root without capabilities.
 */
struct error *server_sandbox_enter(int *kept, size_t count) MUST_CHECK;

#endif
