/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

struct error *query_wrong(const char *name, const char *value, const char *expected)
{
	return error_coded(EINVAL, "wrong value of %s: '%.60s'; expected %s", name, value,
			   expected);
}

struct error *query_number(const struct http_exchange *exchange, const char *name, uint64_t most,
			   uint64_t *value)
{
	const char *given = http_query(exchange, name);
	uint64_t number;

	if (!given)
		return NULL;
	if (!text_u64(text_of(given), &number) || number > most) {
		char expected[64];

		snprintf(expected, sizeof(expected), "a number of at most %" PRIu64, most);
		return query_wrong(name, given, expected);
	}
	*value = number;
	return NULL;
}
