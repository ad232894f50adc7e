/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for the addresses of a profile.
 *
 * Kernel frames get theirs from this host's /proc/kallsyms, so that is done where the profile was
 * taken (`symbolise_kernel`), also for a raw one. User frames get theirs where the profile was
 * taken, while the processes may still be there, or elsewhere by path and build-id,
 * or inode where there is none (`is_elsewhere`). A frame that no symbol is found for is
 * "[file+0x...]", and "[unknown]" where not even that is known.
 */
#ifndef STACK_SYMBOLISE_H
#define STACK_SYMBOLISE_H

#include "stack/profile.h"

struct symbolise_options {
	bool no_inline;    /* do not look for inlined functions */
	bool is_elsewhere; /* the processes are not, or not surely, those of this host */
	const char *symfs; /* look for files below this directory first; NULL: none */
	void (*progress)(void *context, size_t done, size_t total); /* frames; may be NULL */
	void *progress_context;
};

struct error *symbolise_kernel(struct profile *profile) MUST_CHECK;
struct error *symbolise_user(struct profile *profile,
			     const struct symbolise_options *options) MUST_CHECK;

#endif
