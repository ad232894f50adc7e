/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/address.h"

#include "base/array.h"
#include "base/hex.h"
#include "base/text.h"

/* The byte that two hexadecimal digits of either case stand for; 0: invalid, or a NUL. */
static int byte_of(const char *digits)
{
	int high = hex_digit((char)(digits[0] | 0x20));
	int low = high < 0 ? -1 : hex_digit((char)(digits[1] | 0x20));

	return low < 0 ? 0 : high << 4 | low;
}

/* Decode %XX in place. False: it is malformed, or %00. */
static bool decode(char *part)
{
	char *to = part;

	for (; *part; part++) {
		*to = *part;
		if (*part == '%') {
			int byte = byte_of(part + 1);

			if (!byte)
				return false;
			*to = (char)byte;
			part += 2;
		}
		to++;
	}
	*to = '\0';
	return true;
}

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
	if (!*database || strchr(database, '/') || !decode(database))
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
