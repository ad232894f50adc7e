/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the overhead of a pair of probes if both are breakpoints, where most of it is traps.
 *
 * Probes of the same kinds are attached to empty functions, which are then called: functions of
 * ctprof, or those that the kernel has for tests (bpf_fentry_test1 and 2, net/bpf/test_run.c).
 */
#ifndef KSTATS_BPF_OVERHEAD_H
#define KSTATS_BPF_OVERHEAD_H

#include "kstats/bpf_program.h"

/* In nanoseconds, the median of many. 0: the places are of another kind, or it cannot be tried. */
uint64_t kstats_overhead(const struct kstats_program *program);

#endif
