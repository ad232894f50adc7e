/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Distributions of 64-bit values, for each CPU apart, shown in debugfs.
 *
 *	struct kstats *key = kstats_new("foo", 3);
 *
 *	u64 t0 = ktime_get_ns();
 *	<section of code to measure>
 *	kstats_record(key, ktime_get_ns() - t0);
 *
 *	kstats_delete(key);
 *
 * What was recorded is in /sys/kernel/debug/kstats/foo, where START, STOP and RESET can be written.
 */
#ifndef _LINUX_KSTATS_H
#define _LINUX_KSTATS_H

#include <linux/types.h>

struct kstats;

/*
 * A new metric, which records. Each power of two is cut into 2^frac_bits slots (0 to 5; 3 is usual:
 * slots are at most an eighth as wide as the values in them). The name is letters, digits, '_' and
 * '-', up to 63 of them.
 *
 * May sleep. Of an error, an ERR_PTR: EEXIST when there is one of that name, EINVAL or ENAMETOOLONG
 * for names and bits that may not be, ENOMEM. It may be given to the two functions below as it is,
 * which then do nothing.
 */
struct kstats *kstats_new(const char *name, u8 frac_bits);

/* Count a value. From any context, interrupts and NMIs included; takes no lock. */
void kstats_record(struct kstats *metric, u64 value);

/* No record may be under way, and none may follow. May sleep. */
void kstats_delete(struct kstats *metric);

#endif
