/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User stacks of a profile session: its unwinder, and the stacks of waits that began before their
 * tables were ready.
 */
#ifndef SCHED_PROFILE_UNWINDING_H
#define SCHED_PROFILE_UNWINDING_H

#include "sched/profile_internal.h"

bool profile_has_tables(const struct profile_options *options);

/* The maps of the session's programs are there; tables are not, before it is started. */
struct error *profile_open_unwinder(struct profile_session *session) MUST_CHECK;
struct error *profile_start_unwinder(struct profile_session *session) MUST_CHECK;
/* Had it anything to do that could not wait? */
bool profile_tick_unwinder(struct profile_session *session);

/* Take the user stacks of waits in progress that have none or an incomplete one, by reading the
 * memory of their processes. Works without an unwinder as well. */
void profile_take_first_stacks(struct profile_session *session);

/* When nothing is collected any more: wait for the parts of tables that deferred stacks need. */
void profile_finish_stacks(struct profile_session *session);

/* As profile_take_first_stacks(), and wait for the parts of tables that they need. */
void profile_take_all_first_stacks(struct profile_session *session);

#endif
