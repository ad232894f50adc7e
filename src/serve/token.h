/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The token that requests must have, and the URL that has it.
 */
#ifndef SERVE_TOKEN_H
#define SERVE_TOKEN_H

#include <stdio.h>

#include "base/error.h"

/* Random bytes of a token that nobody chose, and its digits. */
#define TOKEN_BYTES      16
#define TOKEN_TEXT_MAX   (2 * TOKEN_BYTES + 1)
#define TOKEN_LENGTH_MAX 256

struct error *token_make(char ret[TOKEN_TEXT_MAX]) MUST_CHECK;

/* Can a header and a query carry it: 1 to TOKEN_LENGTH_MAX bytes, without spaces and control
 * characters? */
struct error *token_check(const char *token) MUST_CHECK;

/* The first line of a file, which other users may not read; checked. Release with free(). */
struct error *token_read(const char *path, char **ret) MUST_CHECK;

/* Print a token as the value of a query, in which other bytes than letters, digits, "-", ".", "_"
 * and "~" are percent-encoded (RFC 3986, 2.3). */
void token_print_encoded(FILE *out, const char *token);

#endif
