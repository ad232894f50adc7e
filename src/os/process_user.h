/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user of a process, to whom the time of inspecting it is charged.
 */
#ifndef OS_PROCESS_USER_H
#define OS_PROCESS_USER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/guard.h"

/*
 * The real user of a process: neither set-user-ID programs nor prctl(PR_SET_DUMPABLE), which gives
 * the files below /proc/PID to root, change it. An ID that /etc/subuid gives to a user, for
 * namespaces, counts as that user. It never hangs, whatever the process does.
 *
 * UINT32_MAX: it is gone, or the kernel does not say.
 */
uint32_t process_user(uint32_t pid);

/* Neither root nor our own user: what they may cost has a limit. */
bool process_user_is_stranger(uint32_t user);

/* The user of a process if it is a stranger, else 0. */
uint32_t process_user_limited(uint32_t pid);

/* The subject that is charged for inspecting a process (guard_subject_of in base/guard.h): its user
 * for processes of strangers, the process itself for others. */
uint64_t process_user_subject(uint32_t pid);

/* A guard for files of processes that are read once a window: strangers may take a fifth of the
 * time, with a second in advance. It is made at the first call, kept in `kept`, and never freed.
 * NULL without memory. */
struct guard *process_user_guard(struct guard **kept, uint64_t patience_ns);

#endif
