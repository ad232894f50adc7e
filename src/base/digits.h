/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as decimal digits, for formats that are mostly numbers: a third of what printf() takes.
 */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <stdint.h>

#define DIGITS_MAX 20

/* Returns the number of bytes written; no NUL follows them. */
unsigned digits_u64(char to[static DIGITS_MAX], uint64_t value);

#endif
