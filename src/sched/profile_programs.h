/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads the BPF programs and maps of a profile. The options and the features of the kernel decide
 * which programs are loaded and how large maps are. The session (profile_session.c) attaches the
 * programs and reads the maps.
 */
#ifndef SCHED_PROFILE_PROGRAMS_H
#define SCHED_PROFILE_PROGRAMS_H

#include "sched/profile_session.h"

struct profile_bpf;

/* Load the programs. The caller destroys `*ret` by profile_bpf__destroy(). */
struct error *profile_programs_load(const struct profile_options *options,
				    struct profile_bpf **ret) MUST_CHECK;

/* Set the processes, threads, CPUs and probes to watch. Call it before programs are attached. */
struct error *profile_programs_set_targets(const struct profile_bpf *program,
					   const struct profile_options *options) MUST_CHECK;

#endif
