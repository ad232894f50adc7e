/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics that BPF programs record: of functions and tracepoints of the kernel, of system calls,
 * and of code of programs, without a module and without a change to what is measured. They stay
 * until they are removed, or the host is started again.
 */
#ifndef KSTATS_BPF_RECORDER_H
#define KSTATS_BPF_RECORDER_H

#include "kstats/recorder.h"

extern const struct kstats_recorder kstats_bpf;

#endif
