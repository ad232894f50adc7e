/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Percent-encoding of parts of URLs (RFC 3986, 2.1): a byte is written as '%' and two hexadecimal
 * digits.
 */
#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/text.h"

/* A letter, a digit or one of "-._~", which need no encoding anywhere (RFC 3986, 2.3)? */
bool percent_is_unreserved(char byte);

/* Print `text` with each byte encoded that is neither unreserved nor in `also`. */
void percent_print(FILE *out, struct text text, const char *also);

/* `text` with each byte encoded that is not unreserved, to be freed; NULL: out of memory. */
char *percent_encode(struct text text);

/* Decode a string in place. With `plus_is_space`, as in the query of a form, '+' is a space. False,
 * with the string undefined, where '%' has no two digits of either case behind it, or stands for a
 * NUL. */
bool percent_decode(char *string, bool plus_is_space) MUST_CHECK;

#endif
