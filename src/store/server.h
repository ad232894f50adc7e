/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a server can do, by its version.
 */
#ifndef STORE_SERVER_H
#define STORE_SERVER_H

#include "base/text.h"

struct store_server {
	unsigned major, minor;
	bool is_current;     /* 22.3 or newer */
	bool has_parameters; /* {name:Type} in queries: 19.14 or newer */
};

/* Of the answer to SELECT version(). False: it is none. */
bool store_server_parse(struct text version, struct store_server *ret);

#endif
