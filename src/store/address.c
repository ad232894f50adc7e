/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/address.h"

#include <string.h>

#include "base/array.h"
#include "base/percent.h"
#include "base/text.h"

static const char *const forms[] = {
	[STORE_ADDRESS_HTTP] = "http[s]://HOST:8123/DATABASE",
	[STORE_ADDRESS_QUERY] = "ch[s]://[USER@]HOST[:PORT]/DATABASE",
};

static const struct scheme {
	struct text begin;
	enum store_address_form form;
	const char *http, *port; /* port: where none is given, "" for that of HTTP */
} schemes[] = {
	{ TEXT("http://"), STORE_ADDRESS_HTTP, "http://", "" },
	{ TEXT("https://"), STORE_ADDRESS_HTTP, "https://", "" },
	{ TEXT("ch://"), STORE_ADDRESS_QUERY, "http://", ":8123" },
	{ TEXT("chs://"), STORE_ADDRESS_QUERY, "https://", ":8443" },
};

static const struct scheme *scheme_of(const char *text, enum store_address_form form)
{
	for (size_t i = 0; i < array_length(schemes); i++)
		if (schemes[i].form == form && text_starts(text_of(text), schemes[i].begin))
			return &schemes[i];
	return NULL;
}

bool store_address_has_form(const char *text, enum store_address_form form)
{
	return scheme_of(text, form);
}

/* --- the server --- */

static int length_shown(struct text text)
{
	return (int)(text.length > 60 ? 60 : text.length);
}

static struct error *parse_port(struct text text, uint32_t *ret)
{
	if (!text_u32(text, ret) || !*ret || *ret > UINT16_MAX)
		return error_create("invalid port '%.*s'", length_shown(text), text.bytes);
	return NULL;
}

/* A name, whose bytes beyond ASCII libcurl translates; or an address in brackets, which may have a
 * zone behind a %. */
static bool is_host(struct text host)
{
	const bool is_address =
		host.length > 2 && host.bytes[0] == '[' && host.bytes[host.length - 1] == ']';

	if (!host.length || host.length > 255)
		return false;
	for (size_t i = is_address; i < host.length - is_address; i++)
		if (!percent_is_unreserved(host.bytes[i]) && (host.bytes[i] & 0x80) == 0 &&
		    !(is_address && strchr(":%", host.bytes[i])))
			return false;
	return true;
}

/* Where the port begins: behind the last colon, unless it is of an address. */
static const char *port_of(struct text host)
{
	const char *colon = memrchr(host.bytes, ':', host.length);

	return colon && memchr(colon, ']', (size_t)(host.bytes + host.length - colon)) ? NULL
										       : colon;
}

static struct error *check_user(struct text user, enum store_address_form form)
{
	if (form == STORE_ADDRESS_HTTP)
		return error_create("a URL may not have a user or password: write them into the "
				    "file of --netrc-file");
	if (memchr(user.bytes, ':', user.length))
		return error_create("a password on the command line is visible to all users of "
				    "this host: write it into ~/.netrc, or into the file that "
				    "CTPROF_NETRC names");
	for (size_t i = 0; i < user.length; i++)
		if (!percent_is_unreserved(user.bytes[i]))
			return error_create("invalid user: expected letters, digits and -._~");
	return user.length ? NULL : error_create("the user before @ is empty");
}

static struct error *parse_server(struct text written, const struct scheme *scheme,
				  struct store_address *ret)
{
	const char *at = memrchr(written.bytes, '@', written.length), *colon;
	struct text user = { written.bytes, at ? (size_t)(at - written.bytes) : 0 };
	struct text host = written;
	uint32_t port = 0;
	struct error *err = at ? check_user(user, scheme->form) : NULL;

	if (err)
		return err;
	if (at)
		host = (struct text){ at + 1, written.length - user.length - 1 };
	colon = port_of(host);
	if (colon) {
		struct text digits = { colon + 1, (size_t)(host.bytes + host.length - colon) - 1 };

		err = parse_port(digits, &port);
		host.length = (size_t)(colon - host.bytes);
	}
	if (err)
		return err;
	if (!is_host(host))
		return error_create("invalid host '%.*s': expected %s", length_shown(host),
				    host.bytes, forms[scheme->form]);
	ret->server =
		port ? text_print("%s%.*s:%u/", scheme->http, (int)host.length, host.bytes, port)
		     : text_print("%s%.*s%s/", scheme->http, (int)host.length, host.bytes,
				  scheme->port);
	ret->user = at ? strndup(user.bytes, user.length) : NULL;
	return ret->server && (ret->user || !at) ? NULL : &error_no_memory;
}

/* --- the whole --- */

static struct error *parse_database(struct text written, enum store_address_form form, char **ret)
{
	if (written.length && written.bytes[written.length - 1] == '/')
		written.length--;
	if (!written.length)
		return error_create("no name of a database: expected %s", forms[form]);
	if (memchr(written.bytes, '/', written.length))
		return error_create("the path '/%.*s' is more than the name of a database: "
				    "expected %s",
				    length_shown(written), written.bytes, forms[form]);
	*ret = strndup(written.bytes, written.length);
	if (!*ret)
		return &error_no_memory;
	return percent_decode(*ret, false)
		       ? NULL
		       : error_create("database: expected two hexadecimal digits after %%");
}

struct error *store_address_parse(const char *text, enum store_address_form form,
				  struct store_address *ret)
{
	const struct scheme *scheme = scheme_of(text, form);
	const char *begin, *end, *slash;
	struct store_address address = { 0 };
	struct text database = { 0 };
	struct error *err;

	if (!scheme || (form == STORE_ADDRESS_HTTP && strpbrk(text, "?#")))
		return error_create("expected %s", forms[form]);
	begin = text + scheme->begin.length;
	end = strchrnul(begin, '?');
	slash = memchr(begin, '/', (size_t)(end - begin));
	if (slash)
		database = (struct text){ slash + 1, (size_t)(end - slash) - 1 };
	err = parse_server((struct text){ begin, (size_t)((slash ? slash : end) - begin) }, scheme,
			   &address);
	if (!err)
		err = parse_database(database, form, &address.database);
	if (err)
		store_address_deinit(&address);
	else
		*ret = address;
	return err;
}

void store_address_deinit(struct store_address *address)
{
	free(address->server);
	free(address->user);
	free(address->database);
}
