/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The token that requests must contain, and its form in a URL.
 */
#ifndef SERVE_TOKEN_H
#define SERVE_TOKEN_H

#include <stdio.h>

#include "base/error.h"

/* A random token: its bytes, and the size of its text. */
#define TOKEN_BYTES      16
#define TOKEN_TEXT_MAX   (2 * TOKEN_BYTES + 1)
#define TOKEN_LENGTH_MAX 256

struct error *token_make(char ret[TOKEN_TEXT_MAX]) MUST_CHECK;

/* Check that a header and a query can contain the token: it has 1 to TOKEN_LENGTH_MAX bytes, and
 * neither spaces nor control characters. */
struct error *token_check(const char *token) MUST_CHECK;

/* Read a token from the first line of a file, and check it. A file that other users may read or
 * write is an error. Release with free(). */
struct error *token_read(const char *path, char **ret) MUST_CHECK;

#endif
