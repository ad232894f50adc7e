/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/<tid>/syscall: the system call that a blocked thread is in (proc_pid_syscall() in
 * fs/proc/base.c). Reading it needs PTRACE_MODE_ATTACH: the same user and a dumpable process, or
 * CAP_SYS_PTRACE.
 */
#ifndef OS_TASK_CALL_H
#define OS_TASK_CALL_H

#include "base/text.h"

#define TASK_CALL_ARGUMENTS 6

enum task_call_kind {
	TASK_CALL_UNKNOWN, /* the file cannot be read, or is not as expected */
	TASK_CALL_RUNNING, /* the thread is on a CPU, or could be */
	TASK_CALL_OUTSIDE, /* blocked, but not in a system call: at a page fault, for one */
	TASK_CALL_IN
};

struct task_call {
	enum task_call_kind kind;
	int32_t number; /* -1 unless TASK_CALL_IN */
	uint64_t arguments[TASK_CALL_ARGUMENTS];
	uint64_t stack; /* the stack pointer; 0 unless blocked */
};

/* The line with or without its newline. What is not understood is TASK_CALL_UNKNOWN. */
struct task_call task_call_parse(struct text line);

#endif
