/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Base64 (RFC 4648, 4), for digests in pages.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

/* The characters for so many bytes, with a NUL. */
#define BASE64_SIZE(count) (((count) + 2) / 3 * 4 + 1)

/* Write four characters for each three of the `count` bytes, padded with "=", then a NUL. Returns
 * the address of the NUL. */
char *base64_write(char *to, const void *bytes, size_t count);

#endif
