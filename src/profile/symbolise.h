/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names the addresses of a profile.
 *
 * Names of kernel frames are in /proc/kallsyms of the host; those of the vDSO, which is no file, in
 * that of ctprof itself: so both are named where the profile was taken (`symbolise_kernel`, and
 * `only_vdso`), also in a raw profile. User frames are named there while the processes may still
 * exist, or elsewhere, by path and build-id or inode (`is_elsewhere`). A frame without a symbol is
 * named "[file+0x...]", or "[unknown]" without a file.
 */
#ifndef PROFILE_SYMBOLISE_H
#define PROFILE_SYMBOLISE_H

#include "base/guard.h"
#include "base/memory_limit.h"
#include "elf/kallsyms.h"
#include "profile/profile.h"
#include "profile/symbol_cache.h"

/*
 * Files of users other than root, and what their processes say that they compiled, are read within
 * a budget: any number of processes can have files that take seconds each. In bytes, of one user
 * and of all of them together; what is beyond stays without names. Our own are not limited.
 */
#define SYMBOLISE_USER_BYTES  ((uint64_t)512 << 20)
#define SYMBOLISE_USERS_BYTES ((uint64_t)1 << 30)

/* Counts of files, and of processes with code of their own, that were not symbolised. */
struct symbolise_left {
	size_t beyond;         /* the budget */
	size_t ended;          /* for it was to end */
	size_t hangs;          /* for its file system did not answer in time */
	size_t without_thread; /* that could read them: we may have no more */
	size_t without_memory; /* for their symbols, within the limit */
};

/* Repeated symbolisation leaves out the same files each time. Set each count of `left` to 0 that is
 * not larger than in all calls before; `told` keeps the largest counts, and begins as {0}. */
void symbolise_left_drop_told(struct symbolise_left *left, struct symbolise_left *told);

struct symbolise_options {
	bool no_inline;    /* do not look for inlined functions */
	bool only_vdso;    /* all other frames of processes stay as they are */
	bool is_elsewhere; /* the processes are not, or not surely, those of this host */
	const char *symfs; /* look for files below this directory first; NULL: none */
	void (*progress)(void *context, size_t done, size_t total); /* frames; may be NULL */
	void *progress_context;
	/* Asked before each file: are names to end? The rest is left without. NULL: they are not.
	 */
	bool (*is_over)(void *context);
	void *is_over_context;
	struct symbolise_left *left; /* added to; may be NULL */
	/* A guard of symbolise_guard(), for repeated symbolisation; NULL: one of its own. */
	struct guard *guard;
	const struct memory_limit *limit; /* for symbols of a file while they are read; or NULL */
	/* Names from earlier calls with the same options (profile/symbol_cache.h); NULL: none. */
	struct symbol_cache *cache;
};

/* A guard for reading files whose file systems may hang. Like guard_create(). */
struct guard *symbolise_guard(void);

/* By /proc/kallsyms, which is read if there are frames to name. */
struct error *symbolise_kernel(struct profile *profile) MUST_CHECK;
/* The same by symbols that were read already. */
struct error *symbolise_kernel_by(struct profile *profile,
				  const struct kallsyms *symbols) MUST_CHECK;

/* The same, by the kernel symbols of a cache. */
struct error *symbolise_kernel_cached(struct profile *profile,
				      struct symbol_cache *cache) MUST_CHECK;

struct error *symbolise_user(struct profile *profile,
			     const struct symbolise_options *options) MUST_CHECK;

#endif
