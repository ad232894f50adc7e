/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder kstats_module (recorder.h), at a directory: what it does at that of debugfs, tests
 * do at one of their own.
 */
#ifndef KSTATS_MODULE_RECORDER_H
#define KSTATS_MODULE_RECORDER_H

#include "kstats/recorder.h"

/* Open the directory `kstats` of debugfs; mount debugfs, visible only to this process, if it is not
 * mounted. ENOENT: the module is not loaded. */
struct error *kstats_module_open(int *ret) MUST_CHECK;

struct error *kstats_module_trace(int dir, const struct kstats_spec *spec) MUST_CHECK;
/* Added to `entries`. */
struct error *kstats_module_list(int dir, struct kstats_entries *entries) MUST_CHECK;
/* Also of a module that is not ours, and prints v3 text only. */
struct error *kstats_module_read(int dir, const char *name, struct kstats_table **ret) MUST_CHECK;
struct error *kstats_module_command(int dir, const char *name,
				    enum kstats_command command) MUST_CHECK;
struct error *kstats_module_remove(int dir, const char *name) MUST_CHECK;

#endif
