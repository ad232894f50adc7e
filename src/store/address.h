/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value of the option --clickhouse: the server and the database of the tables.
 *
 *	http[s]://HOST[:PORT]/DATABASE
 *
 * Bytes of DATABASE may be written as %XX.
 */
#ifndef STORE_ADDRESS_H
#define STORE_ADDRESS_H

#include "base/error.h"

struct store_address {
	char *server;   /* "http://HOST:PORT/": requests append "?query=..."; to be freed */
	char *database; /* decoded; to be freed */
};

struct error *store_address_parse(const char *url, struct store_address *ret) MUST_CHECK;
/* Takes one that is all zero. */
void store_address_deinit(struct store_address *address);

#endif
