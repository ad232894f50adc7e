/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Persistent metrics: each is a directory in /sys/fs/bpf/ctprof, for root only, with pinned maps
 * and links that keep the programs attached.
 *
 * A metric is created as "+NAME" and renamed to NAME when it is complete; before it is removed, it
 * is renamed back. So NAME is always complete, and without the lock held, "+NAME" is the remainder
 * of a command that was killed.
 */
#ifndef KSTATS_BPF_PINS_H
#define KSTATS_BPF_PINS_H

#include "base/error.h"
#include "kstats/recorder.h"

#define KSTATS_BPFFS "/sys/fs/bpf"
#define KSTATS_PINS  KSTATS_BPFFS "/ctprof"

struct kstats_program;

/* While the lock is held, no other process adds or removes metrics; half-made ones are removed.
 * Mounts the file system if it is not mounted and `is_made`; otherwise the result is -1 if there is
 * none. */
struct error *kstats_pins_lock(bool is_made, int *ret) MUST_CHECK;

/* EEXIST: there is one of that name. All or nothing. */
struct error *kstats_pins_add(int pins, const char *name,
			      const struct kstats_program *program) MUST_CHECK;
/* ENOENT: there is none. */
struct error *kstats_pins_remove(int pins, const char *name) MUST_CHECK;

/* List the names, sorted. The caller clears *ret, also after an error. */
struct error *kstats_pins_list(int pins, struct kstats_names *ret) MUST_CHECK;
/* The same without the lock, for which a command may be waiting or working for seconds. */
struct error *kstats_pins_names(struct kstats_names *ret) MUST_CHECK;

/* A metric's directory, as a descriptor; an errno. */
int kstats_pins_open(const char *name, int *ret);
/* The pinned object of this directory, never that of another metric that got the name since. */
int kstats_pins_get(int directory, const char *what, int *ret);

#endif
