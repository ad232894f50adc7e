/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a thread that waits in a system call, by the rules of sched/wait_rules.bpf.h as far
 * as they follow from what /proc tells: the call with its arguments, and the kind of a file.
 */
#ifndef STATE_CALL_STATE_H
#define STATE_CALL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "state/state.h"

enum call_file {
	CALL_FILE_UNKNOWN,
	CALL_FILE_SOCKET,
	CALL_FILE_PIPE,   /* or FIFO */
	CALL_FILE_TIMER,  /* timerfd_create(2) */
	CALL_FILE_STORED, /* a regular file, directory or block device */
	CALL_FILE_OTHER,
};

/* Is the first argument an open file whose kind decides? */
bool call_state_needs_file(int32_t number);

/* `is_deep`: in a sleep that signals do not end. STATE_SLEEP where it is not known. */
enum state call_state(int32_t number, const uint64_t *arguments, bool is_deep, enum call_file file);

#endif
