/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a request says, taken from its target and its headers: bytes of strangers. Nothing here
 * depends on a connection.
 *
 * RFC 9110 (HTTP semantics) and RFC 9112 (HTTP/1.1) are the sources of the formats, RFC 3986 of the
 * target.
 */
#ifndef SERVE_HTTP_REQUEST_H
#define SERVE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

/* A name of the query and its value, decoded. */
struct http_pair {
	const char *name, *value;
};

struct http_target {
	char *bytes; /* of all strings below */
	const char *path;
	struct http_pairs {
		ARRAY(struct http_pair);
	} query;
};

/* Names in a query; more are an error. */
#define HTTP_PAIRS_MOST 64

/*
 * Take the target "/path?name=value&..." apart. EINVAL: it is an absolute URI or "*", has a broken
 * escape or a NUL, or its path has a control character, a backslash, "//", or a segment "." or
 * "..". A path has one spelling only, so what compares paths, here or in a proxy, sees the same.
 */
struct error *http_target_parse(const char *uri, struct http_target *ret) MUST_CHECK;
void http_target_deinit(struct http_target *target);

/* The value of the first `name` in the query; NULL: there is none. */
const char *http_target_value(const struct http_target *target, const char *name);

/* The first name in the query that is neither "token" nor one of the words of `known`, which are
 * separated by spaces; NULL: all names are known. */
const char *http_target_unknown(const struct http_target *target, const char *known);

/* One item of Accept, Accept-Encoding and the like: "text/html;level=1;q=0.5". */
struct http_choice {
	struct text name;       /* "text/html" */
	struct text parameters; /* ";level=1;q=0.5": http_choice_parameter() */
	unsigned weight;        /* 0 .. 1000: q, or 1000; 0: unwanted */
};

/* Cut the next item off the front of a header. False: there is none. */
bool http_choice_next(struct text *header, struct http_choice *ret);

/* The value of a parameter, without quotes; a false return leaves `ret` alone. */
bool http_choice_parameter(const struct http_choice *choice, struct text name, struct text *ret);

/* Does an Accept-Encoding (NULL: there is none) allow this encoding, which must be named or "*"? */
bool http_accepts_encoding(const char *header, struct text encoding);

#endif
