/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an empty pair measures where both places are breakpoints: most of it is the traps.
 *
 * Probes of the same kinds are put on functions that do nothing, and these are called: our own, or
 * those that the kernel has for such trials (bpf_fentry_test1 and 2, net/bpf/test_run.c).
 */
#ifndef KSTATS_BPF_OVERHEAD_H
#define KSTATS_BPF_OVERHEAD_H

#include "kstats/bpf_program.h"

/* In nanoseconds, the median of many. 0: the places are of another kind, or it cannot be tried. */
uint64_t kstats_overhead(const struct kstats_program *program);

#endif
