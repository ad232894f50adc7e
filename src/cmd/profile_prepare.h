/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From addresses as they were taken to the stacks that are shown.
 *
 *	err = profile_name_kernel(&output, profile);
 *	...						write raw files
 *	if (!err)
 *		err = profile_prepare(&output, profile);
 *
 * Frames of the kernel and of the vDSO belong to the host where the profile was taken, so they have
 * names also in raw files. Frames of processes are named next. The options that select are applied
 * last, because they need names: only a function tells that a wait is for a lock, which --state
 * selects, and --filter compares names.
 */
#ifndef CMD_PROFILE_PREPARE_H
#define CMD_PROFILE_PREPARE_H

#include "cmd/profile_output.h"

/* Name frames of the kernel and of the vDSO. */
struct error *profile_name_kernel(const struct profile_output *output,
				  struct profile *profile) MUST_CHECK;

/*
 * Name frames of processes, find the waits for locks, and drop the stacks that --state, --filter,
 * --not-contains or --preset hide. Prints on standard error how much they hide, and how many files
 * were not read for names (the budgets of profile/symbolise.h, or an interrupt).
 */
struct error *profile_prepare(const struct profile_output *output,
			      struct profile *profile) MUST_CHECK;

#endif
