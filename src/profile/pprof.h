/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words that the writer and the reader of pprof profiles share.
 */
#ifndef PROFILE_PPROF_H
#define PROFILE_PPROF_H

#include "profile/profile.h"

/* Sample types. */
#define PPROF_ON_CPU  "on-cpu"
#define PPROF_OFF_CPU "off-cpu"
#define PPROF_WALL    "wall" /* the sum of both, where there are both */
#define PPROF_SAMPLES "samples"

/* The same of parts of a profile (profile/pprof_parts.h), and their label. */
#define PPROF_PART_ON_CPU  "cpu"
#define PPROF_PART_OFF_CPU "off_cpu"
#define PPROF_PART_COMM    "comm"

/* Labels of samples: numbers, and then strings. */
#define PPROF_TID     "tid"
#define PPROF_TGID    "tgid"
#define PPROF_CPU     "cpu"
#define PPROF_THREAD  "thread"
#define PPROF_PROCESS "process"
#define PPROF_CGROUP  "cgroup"
#define PPROF_STATE   "state"
#define PPROF_REASON  "reason"
#define PPROF_EVENT   "event"

/* The file of functions of the kernel; those of a module have "[module]". */
#define PPROF_KERNEL "[kernel]"

/* A pattern of the functions in which all waits end, schedule() and those around it: without these,
 * pprof shows the waiting functions. Empty if it would drop other frames, too. */
struct error *pprof_frames_to_drop(const struct profile *profile, char **ret) MUST_CHECK;

#endif
