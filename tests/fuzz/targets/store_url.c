/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "store/address.h"
#include "store/sql.h"

#define NOW UINT64_C(1795177800)

/* What is written is one byte or the digits of one. */
static bool is_query_text(const char *text)
{
	return !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
				  "(){}:=,.'<> -")];
}

static void check_query(const struct store_url *url, bool has_parameters)
{
	struct sql sql = { .has_parameters = has_parameters };
	char *text;

	sql_add_selection(&sql, url, SQL_SELECTORS_ALL);
	text = sql_text(&sql);
	must(!sql.has_failed && (!text || is_query_text(text)));
	for (size_t i = 0; i < sql.parameters.count; i++)
		must(sql.parameters.items[i] > ' ' && sql.parameters.items[i] < 127);
	free(text);
	sql_deinit(&sql);
}

static void check_address(const char *text)
{
	struct store_address address;
	struct error *err = store_address_parse(text, STORE_ADDRESS_HTTP, &address);

	if (err) {
		fuzz_check_error(err);
		return;
	}
	must(*address.database && !address.user && !strpbrk(address.server, "\r\n ?#@"));
	store_address_deinit(&address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	char *text = strndup(bytes.length ? bytes.bytes : "", bytes.length);
	struct store_url url;
	struct error *err;

	must(text);
	err = store_url_parse(text, NOW, &url);
	if (!err) {
		must(url.from_s < url.to_s && url.to_s <= UINT32_MAX);
		must(*url.database && !strpbrk(url.server, "\r\n ?#"));
		check_query(&url, true);
		check_query(&url, false);
		store_url_deinit(&url);
	}
	error_destroy(err);
	check_address(text);
	free(text);
	fuzz_release(bytes);
	return 0;
}
