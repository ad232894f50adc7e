/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Base64 with padding (RFC 4648, section 4), for digests in the Content-Security-Policy of pages.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

/* Buffer size, with a NUL, for the encoding of `count` bytes. */
#define BASE64_SIZE(count) (((count) + 2) / 3 * 4 + 1)

/* Encode `count` bytes into `to`, which has BASE64_SIZE(count) bytes. Returns the address of the
 * NUL at the end. */
char *base64_write(char *to, const void *bytes, size_t count);

#endif
