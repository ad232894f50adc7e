/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for locks that programs make themselves: the system call is epoll_wait(2), select(2) or a
 * futex without an owner, so the kernel's side calls them waits for files, for a condition or for a
 * time. Functions on the stack tell that they are for a lock.
 */
#ifndef PROFILE_LOCK_FRAMES_H
#define PROFILE_LOCK_FRAMES_H

#include "profile/profile.h"
#include "profile/reason.h"

/*
 * Give the samples and longest waits of a symbolised profile that wait below such a function
 * STATE_LOCK_FUTEX. Waits of other reasons (storage, a network, a page) below it keep theirs.
 * Samples that become equal by that are added up.
 */
struct error *lock_frames_apply(struct profile *profile) MUST_CHECK;

/* To a selection that has waits for locks of programs, add those that may turn out to be such. */
void lock_frames_widen(struct reason_selection *selection);

/* What threads of such a profile wait for below those functions, of all that they wait but for a
 * CPU, and the stack of the longest of these waits (NODE_NONE: there are none). */
struct lock_lead {
	uint64_t ns, all_ns;
	uint32_t node;
};
struct error *lock_frames_lead(const struct profile *profile, struct lock_lead *ret) MUST_CHECK;

#endif
