/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files kstats/_raw/NAME of our kernel module, in which is all that it knows of a metric:
 *
 *	name vfs_read
 *	bits 3
 *	cpus 2
 *	state active
 *	count 814
 *	unit ns
 *	start vfs_read
 *	missed 0
 *	slot 55 cpu 0 count 589 sum 282720
 *
 * First lines of a key and its value, then one for each slot and CPU. Keys that are not known are
 * passed over.
 */
#ifndef KSTATS_MODULE_TEXT_H
#define KSTATS_MODULE_TEXT_H

#include "base/text.h"
#include "kstats/recorder.h"

/* All of it. */
struct error *kstats_module_parse(struct text text, struct kstats_table **ret) MUST_CHECK;

#endif
