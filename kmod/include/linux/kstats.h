/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of 64-bit values, separate for each CPU, shown in debugfs.
 *
 *	struct kstats *key = kstats_new("foo", 3);
 *
 *	u64 t0 = ktime_get_ns();
 *	<section of code to measure>
 *	kstats_record(key, ktime_get_ns() - t0);
 *
 *	kstats_delete(key);
 *
 * Read the histogram from /sys/kernel/debug/kstats/foo; write START, STOP or RESET to that file.
 */
#ifndef _LINUX_KSTATS_H
#define _LINUX_KSTATS_H

#include <linux/types.h>

struct kstats;

/*
 * Create a metric, which records at once. Each power of two is divided into 2^frac_bits slots (0 to
 * 5; 3 is usual: a slot is at most an eighth as wide as the values in it). The name has up to 63
 * letters, digits, '_' and '-'.
 *
 * May sleep. Returns an ERR_PTR on failure: EEXIST if a metric has that name, EINVAL or
 * ENAMETOOLONG for an invalid name or frac_bits, ENOMEM. The two functions below accept an ERR_PTR
 * and then do nothing.
 */
struct kstats *kstats_new(const char *name, u8 frac_bits);

/* Count a value. May be called in any context, including interrupts and NMIs; takes no lock. */
void kstats_record(struct kstats *metric, u64 value);

/* Delete a metric. No kstats_record() may be in progress or follow. May sleep. */
void kstats_delete(struct kstats *metric);

#endif
