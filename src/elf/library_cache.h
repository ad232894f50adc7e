/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The libraries that the dynamic linker knows: reads /etc/ld.so.cache in the format of ldconfig(8)
 * of glibc 2.2 and later (sysdeps/generic/dl-cache.h: struct cache_file_new).
 */
#ifndef ELF_LIBRARY_CACHE_H
#define ELF_LIBRARY_CACHE_H

#include "base/text.h"

/* "libc.so.6" and its path. False ends it. */
typedef bool library_visit(void *context, const char *name, const char *path);

/* A file of another format has no entries. */
void library_cache_each(struct text bytes, library_visit *visit, void *context);

/* Is it what a user means by `wanted`: "libc.so.6", "libc", "c"? */
bool library_is(const char *name, struct text wanted);

#endif
