/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/<tid>/stat: one line of columns (proc_pid_stat(5), do_task_stat() in fs/proc/array.c).
 *
 * The name stands raw between the first '(' and the last ')'; it may hold spaces, parentheses,
 * newlines and any other byte.
 */
#ifndef OS_STAT_H
#define OS_STAT_H

#include "base/text.h"

#define STAT_COLUMNS 52

enum {
	STAT_STATE = 3,
	STAT_PPID = 4,
	STAT_SESSION = 6,
	STAT_FLAGS = 9,
	STAT_UTIME = 14,
	STAT_STIME = 15,
	STAT_PRIORITY = 18,
	STAT_NICE = 19,
	STAT_START_TIME = 22,
	STAT_RSS = 24,
	STAT_RT_PRIORITY = 40,
	STAT_POLICY = 41
};

/* The flag of a kernel thread in STAT_FLAGS and in task_struct.flags (include/linux/sched.h). */
#define PF_KTHREAD 0x00200000u

struct stat_line {
	struct text comm;
	/* Counted from 1 as in the manual page; columns 1 and 2, and those that the line does not
	 * have, are empty. */
	struct text columns[STAT_COLUMNS + 1];
};

/* False when there is no name in parentheses; the columns point into `bytes`. */
bool stat_parse(struct text bytes, struct stat_line *ret);

/* Dead, whether or not its parent has waited for it. */
static inline bool stat_is_dead(const struct stat_line *line)
{
	const struct text state = line->columns[STAT_STATE];

	return text_equal(state, TEXT("Z")) || text_equal(state, TEXT("X"));
}

/* The name of a scheduling policy ("SCHED_OTHER"), as include/uapi/linux/sched.h numbers them;
 * "SCHED_UNKNOWN(n)" is written to `buffer` for others. */
#define POLICY_NAME_MAX 40
const char *policy_name(char buffer[POLICY_NAME_MAX], uint64_t policy);

#endif
