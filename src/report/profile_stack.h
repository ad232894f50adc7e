/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames, stacks and threads of a profile as text that is safe on a terminal. All of it is
 * allocated; NULL without memory.
 */
#ifndef REPORT_PROFILE_STACK_H
#define REPORT_PROFILE_STACK_H

#include "report/profile_report.h"

/* The function, or "file+0x1a", or "[unknown]". */
char *frame_visible(const struct frame *frame);

/* "name (tid)". */
char *thread_visible(const struct profile_thread *thread);

/* "io_schedule < ... < do_syscall_64 < read < main": the innermost frames, at most `most` of the
 * kernel and of the program each, behind the scheduler. */
char *stack_visible(const struct profile *profile, uint32_t node, size_t most);

/* The classes that a report is about: those of its view, or all that have time, or else events. */
unsigned profile_classes_shown(const struct profile_report *report);

#endif
