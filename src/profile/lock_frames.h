/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for locks that programs implement themselves. The system call is epoll_wait(2), select(2)
 * or a futex without an owner, so the BPF programs classify them as waits for files, for a
 * condition or for a time. Known functions on the stack (frame_is_lock()) show that they are for a
 * lock.
 */
#ifndef PROFILE_LOCK_FRAMES_H
#define PROFILE_LOCK_FRAMES_H

#include "profile/profile.h"
#include "profile/reason.h"

/*
 * Set the state of samples and longest waits below such a function to STATE_LOCK_FUTEX. Waits for
 * other reasons (storage, a network, a page) below it keep their state. Samples that become equal
 * are added up. The profile must be symbolised.
 */
struct error *lock_frames_apply(struct profile *profile) MUST_CHECK;

/* If a selection has STATE_LOCK_FUTEX, add the states that lock_frames_apply() may change to it. */
void lock_frames_widen(struct reason_selection *selection);

/* After lock_frames_apply(): `ns` is the time of waits below such functions, `all_ns` that of all
 * waits except for a CPU, and `node` the stack of the longest of the former (NODE_NONE: there are
 * none). */
struct lock_lead {
	uint64_t ns, all_ns;
	uint32_t node;
};
struct error *lock_frames_lead(const struct profile *profile, struct lock_lead *ret) MUST_CHECK;

#endif
