/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/locks: locks of files by flock(2) and fcntl(2), and who waits for them (proc_locks(5),
 * lock_get_status() in fs/locks.c). The lines that wait follow that of the lock, have its number,
 * and "->" before the kind.
 */
#ifndef OS_FILE_LOCKS_H
#define OS_FILE_LOCKS_H

#include "base/text.h"

/* The process that holds the lock for which process `pid` waits; 0: it waits for none, or the
 * holder is not told (open file description locks have none). */
uint32_t file_locks_holder(struct text locks, uint32_t pid);

#endif
