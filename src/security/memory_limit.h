/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A limit of memory for commands that read files of others.
 *
 * Some megabytes, compressed, may describe a snapshot or a profile of many gigabytes. Commands that
 * load such files fail with "out of memory" before the host has none left.
 */
#ifndef SECURITY_MEMORY_LIMIT_H
#define SECURITY_MEMORY_LIMIT_H

/*
 * Limits this process to half of the memory that the host has available (MemAvailable of
 * /proc/meminfo), but not to less than 256 MiB. Sets the soft limit of RLIMIT_DATA, which counts
 * private writable memory, unless the user has set one. Programs that are run inherit it, so it is
 * not for commands that run one.
 */
void memory_limit_set(void);

#endif
