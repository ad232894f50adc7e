/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/address.h"

#include "base/array.h"
#include "base/percent.h"
#include "base/text.h"

struct error *store_address_parse(const char *url, struct store_address *ret)
{
	const char *host = strstr(url, "://"), *slash = host ? strchr(host + 3, '/') : NULL;
	_cleanup_free_ char *database = strdup(slash ? slash + 1 : "");
	char *server;

	if (!database)
		return &error_no_memory;
	if (!host || slash == host + 3 || strpbrk(url, "?#"))
		return error_create("expected http://HOST:8123/DATABASE");
	if (text_ends(text_of(database), TEXT("/")))
		database[strlen(database) - 1] = '\0';
	if (!*database || strchr(database, '/') || !percent_decode(database, false))
		return error_create("the URL has no valid name of a database: expected "
				    "http://HOST:8123/DATABASE");
	server = text_print("%.*s", (int)(slash + 1 - url), url);
	if (!server)
		return &error_no_memory;
	*ret = (struct store_address){ server, take_ptr(database) };
	return NULL;
}

void store_address_deinit(struct store_address *address)
{
	free(address->server);
	free(address->database);
}
