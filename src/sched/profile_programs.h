/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF programs and maps of a profile: chosen, configured and sized by its options and by what
 * the kernel has, and loaded. The session (profile_session.c) attaches and reads them.
 */
#ifndef SCHED_PROFILE_PROGRAMS_H
#define SCHED_PROFILE_PROGRAMS_H

#include "sched/profile_session.h"

struct profile_bpf;

/* The caller destroys *ret with profile_bpf__destroy(). */
struct error *profile_programs_load(const struct profile_options *options,
				    struct profile_bpf **ret) MUST_CHECK;

/* The processes, threads and probes that the programs look at: before they are attached. */
struct error *profile_programs_set_targets(const struct profile_bpf *program,
					   const struct profile_options *options) MUST_CHECK;

#endif
