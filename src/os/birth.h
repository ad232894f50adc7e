/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a process was born, which tells it from a later one of the same number.
 */
#ifndef OS_BIRTH_H
#define OS_BIRTH_H

#include "base/file.h"

/* Ticks of /proc in a second (USER_HZ), on all machines that ctprof runs on. */
#define BIRTH_TICKS_PER_S 100

/* Our time namespace's boot time less that of the host, in ns. /proc shows start times with it.
 * `proc`: a directory. */
int64_t boottime_offset(int proc, struct file_buffer *buffer);

struct birth {
	uint32_t tgid;  /* another number where this is a thread that leads no process */
	uint64_t ticks; /* since the boot, as /proc shows it */
};

/* The start time of a process or thread. False if it does not exist. */
bool birth_of(uint32_t number, struct birth *ret);

#endif
