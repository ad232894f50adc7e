/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page and its files (assets/serve/ and what it shares with other pages), from the program.
 *
 * They hold nothing of the host, so they need no token: the page passes the token of its own
 * address on to /api.
 */
#ifndef SERVE_STATIC_H
#define SERVE_STATIC_H

#include "serve/http.h"

/* Rows of a table of routes. */
#define STATIC_ROUTES                                                        \
	{ "GET", "/", static_page, 0, true, NULL, NULL },                    \
		{ "GET", "/favicon.ico", static_icon, 0, true, NULL, NULL }, \
	{                                                                    \
		"GET", "/page/*", static_file, 0, true, NULL, NULL           \
	}

http_handler static_page, static_icon, static_file;

#endif
