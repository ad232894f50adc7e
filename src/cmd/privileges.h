/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capabilities (capabilities(7)): which are missing to take a profile, and giving up what is not
 * needed any more once everything is attached.
 *
 * Taking samples needs none: the programs are in the kernel, their descriptors open. What is kept
 * is for what comes later, a row each:
 *
 *	reading maps        CAP_BPF, only where the kernel asks for it with every bpf(2) (before
 *	                    Linux 5.19, where kernel.unprivileged_bpf_disabled is set)
 *	making larger maps  CAP_BPF
 *	naming user frames  CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, to read /proc/PID/maps, and
 * files through /proc/PID/root, of others; CAP_CHECKPOINT_RESTORE, for files that are gone, through
 * /proc/PID/map_files naming kernel ones  CAP_SYSLOG, to see addresses in /proc/kallsyms writing
 * the result  CAP_DAC_OVERRIDE, for root has no other right to write into the directory of a user
 *
 * Everything else goes from the effective, permitted, inheritable, ambient and bounding sets, and
 * no program that is run from then on gets any (PR_SET_NO_NEW_PRIVS): without that, a program that
 * root runs has all of them again. A command that was started before (cmd/run.h) keeps its own.
 */
#ifndef CMD_PRIVILEGES_H
#define CMD_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum privilege_use {
	PRIVILEGE_READ_MAPS = 1 << 0,
	PRIVILEGE_GROW_MAPS = 1 << 1,
	PRIVILEGE_NAME_USER = 1 << 2,
	PRIVILEGE_NAME_KERNEL = 1 << 3,
	PRIVILEGE_WRITE_FILES = 1 << 4,
};

/*
 * Keep what these uses (of enum privilege_use) need, of what we have, and drop the rest for good.
 * Nothing happens to other threads of ours: call it before there are any.
 */
struct error *privileges_keep(unsigned uses) MUST_CHECK;

/*
 * A sentence, without a full stop, about what is missing to take a profile of everything, and how
 * to get it; the caller frees it. NULL: nothing, or no memory.
 */
char *privileges_missing(void);

/* The same for any set of capabilities, a bit each, in a kernel with or without CAP_BPF and
 * CAP_PERFMON (Linux 5.8). */
char *privileges_missing_of(uint64_t capabilities, bool has_bpf);

#endif
