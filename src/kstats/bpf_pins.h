/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics that stay: a directory each below /sys/fs/bpf/ctprof, for root alone, with the maps and
 * what keeps the programs attached.
 *
 * One is made as "+NAME", and gets its name when all is in it; it gets that name again before it
 * is taken away. So whoever finds NAME finds it whole, and "+NAME" is what a command left that was
 * killed, unless it still holds the lock.
 */
#ifndef KSTATS_BPF_PINS_H
#define KSTATS_BPF_PINS_H

#include "base/array.h"
#include "base/error.h"
#include "kstats/spec.h"

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

struct kstats_names {
	ARRAY(char *);
};

/* By name. To be cleared, also after an error. */
struct error *kstats_pins_list(int pins, struct kstats_names *ret) MUST_CHECK;
void kstats_names_clear(struct kstats_names *names);

/* A metric's directory, as a descriptor; an errno. */
int kstats_pins_open(const char *name, int *ret);
/* The pinned object of this directory, never that of another metric that got the name since. */
int kstats_pins_get(int directory, const char *what, int *ret);

#endif
