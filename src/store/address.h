/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where an agent's tables are, as its option and its configuration have it:
 *
 *	http[s]://HOST[:PORT]/DATABASE
 *
 * Bytes of the name of the database may be written as %XX.
 */
#ifndef STORE_ADDRESS_H
#define STORE_ADDRESS_H

#include "base/error.h"

struct store_address {
	char *server;   /* "http://HOST:PORT/", to which queries are appended; to be freed */
	char *database; /* its bytes; to be freed */
};

struct error *store_address_parse(const char *url, struct store_address *ret) MUST_CHECK;
/* Takes one that is all zero. */
void store_address_deinit(struct store_address *address);

#endif
