/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads small files of the first thread of a process, since such a read may hang.
 *
 * While a process is in execve(2), it holds a lock (exec_update_lock) that reading io takes; since
 * Linux 6.18 reading stat takes it, too. The process may hold it forever: it waits for the lock of
 * its old memory map, which another process may hold while it waits for a file system. Only the
 * first thread can be in that state, since the others have ended by then.
 *
 * The file is read at once, as those of other threads are, so that its values belong to the same
 * time; but in another thread, which is abandoned if it hangs. Meanwhile, first threads of the same
 * user are skipped.
 */
#ifndef CAPTURE_LEADER_GUARD_H
#define CAPTURE_LEADER_GUARD_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/text.h"

struct leader_guard;

/* NULL without memory. */
struct leader_guard *leader_guard_create(void);
/* Takes NULL. */
void leader_guard_destroy(struct leader_guard *guard);

/* The file of the process below its directory. Returns 0 or an errno; ETIMEDOUT when it hangs, or
 * when it was skipped. `*ret` lives until the next call. */
int leader_guard_read(struct leader_guard *guard, int dir, uint32_t tgid, const char *name,
		      struct text *ret);

#endif
