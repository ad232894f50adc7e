/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The address of a server and of the database that has the tables, as users write it: as the value
 * of the option --clickhouse, and at the beginning of a query (store/url.h).
 *
 *	http[s]://HOST[:PORT]/DATABASE
 *	ch[s]://[USER@]HOST[:PORT]/DATABASE
 *
 * The schemes https and chs are TLS. The port is that of the scheme: 80, 443, 8123 or 8443. HOST
 * may be an IPv6 address in brackets. A password is never part of it, since a command line is
 * visible to all users of a host. Bytes of DATABASE may be written as %XX, and a slash may follow
 * it.
 */
#ifndef STORE_ADDRESS_H
#define STORE_ADDRESS_H

#include "base/error.h"

struct store_address {
	char *server;   /* "http://HOST:PORT/": requests append "?query=..." */
	char *user;     /* NULL: none was given */
	char *database; /* bytes, not encoded; never empty */
};

enum store_address_form { STORE_ADDRESS_HTTP, STORE_ADDRESS_QUERY };

/* Does the text begin with a scheme of this form? */
bool store_address_has_form(const char *text, enum store_address_form form);

/* Parse an address of this form. That of a query ends at its first question mark. */
struct error *store_address_parse(const char *text, enum store_address_form form,
				  struct store_address *ret) MUST_CHECK;

/* Takes one that is all zero. */
void store_address_deinit(struct store_address *address);

#endif
