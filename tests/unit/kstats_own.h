/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics of this very process, read as everybody else would.
 */
#ifndef UNIT_KSTATS_OWN_H
#define UNIT_KSTATS_OWN_H

#include "kstats/recorder.h"

/* "PID:NAME", good until the next call. */
const char *kstats_own_name(const char *name);

/* To be destroyed. */
struct kstats_table *kstats_read_own(const char *name);
void kstats_command_own(const char *name, enum kstats_command command);

/* What it counted, all CPUs and slots together. */
struct kstats_slot kstats_total_of_own(const char *name);

/* What `value` adds to a sum; worked out apart from histogram/bucket.h. */
uint64_t kstats_amount(uint64_t value, unsigned frac_bits);

#endif
