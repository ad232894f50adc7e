/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What blocked threads wait for, from /proc/<pid>/task/<tid>/syscall, for the engine that has no
 * programs in the kernel. The file may be read for threads of the same user, or with
 * CAP_SYS_PTRACE.
 */
#ifndef TOP_CALL_STATES_H
#define TOP_CALL_STATES_H

#include "base/array.h"
#include "state/state.h"

struct call_state_row {
	uint32_t tid, tgid;
	bool is_deep; /* in a sleep that signals do not end */
	/* results */
	bool is_read;
	bool is_denied;
	int32_t syscall;  /* -1: none, or not known */
	enum state state; /* STATE_SLEEP: not known */
};

struct call_state_rows {
	ARRAY(struct call_state_row);
};

/* Fill in the results, in a confined thread with a limit of time (base/guard.h). Rows that it did
 * not come to are not read. `rows` is emptied by the caller. */
void call_states_read(struct call_state_rows *rows);

#endif
