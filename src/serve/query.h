/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of a query, for handlers: what is wrong is an error of status 400 that names the parameter
 * and what it may be.
 */
#ifndef SERVE_QUERY_H
#define SERVE_QUERY_H

#include "serve/http.h"

/* EINVAL, with the message that `name` has a wrong value. */
struct error *query_wrong(const char *name, const char *value, const char *expected) MUST_CHECK;

/* The number of a parameter, 0 to `most`; without the parameter `value` stays as it is. */
struct error *query_number(const struct http_exchange *exchange, const char *name, uint64_t most,
			   uint64_t *value) MUST_CHECK;

#endif
