/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small files of the first thread of a process, which may hang who reads them.
 *
 * While a process is in execve(2), it holds a lock (exec_update_lock) that reading io takes, and of
 * Linux 6.18 reading stat, too. It can hold that for good: it waits for the lock of its old memory
 * map, which another process has that waits for a file system. Only the first thread can be there,
 * for the others have ended by then.
 *
 * The file is read at once, as files of other threads are, so that its values belong to the same
 * moment; but by another thread, which is not waited for when it hangs. Others of the same user are
 * skipped while it does.
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
