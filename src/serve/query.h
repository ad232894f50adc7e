/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of a query, for handlers. A wrong value is an error with status 400 that names the
 * parameter and the values that it may have.
 */
#ifndef SERVE_QUERY_H
#define SERVE_QUERY_H

#include "serve/http.h"

/* Returns the error EINVAL: the parameter `name` has a wrong value. */
struct error *query_wrong(const char *name, const char *value, const char *expected) MUST_CHECK;

/* Parse the parameter `name`, a number from 0 to `most`. Without the parameter, `*value` stays. */
struct error *query_number(const struct http_exchange *exchange, const char *name, uint64_t most,
			   uint64_t *value) MUST_CHECK;

#endif
