/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder serve/: live pictures and metrics over HTTP. Three processes share the work. The
 * *collector* has privileges: it takes a reading of the profile each second and sends it, named and
 * packed, through a socket. The *web process* has none, and opens nothing: it keeps the readings of
 * the last minutes and answers requests from them. It sends the collector nothing but requests of
 * eight bytes (request.h), so no client can make the collector do anything else. A third process,
 * also without privileges, makes reports of uploaded files (report_worker.h).
 */

/*
 * An HTTP server for one thread, over libmicrohttpd, with bounds for each client.
 *
 *	struct http_server *server;
 *	struct error *err = http_open(&options, routes, count, context, &server);
 *	while (!err && ...) {
 *		poll http_fd(server) for POLLIN, at most http_timeout_ms(server)
 *		err = http_serve(server);
 *		if (there is a new reading)
 *			http_wake(server);
 *	}
 *	http_close(server);
 *
 * A route's handler is called when the request is whole. It writes its answer and says whether that
 * is all of it: an answer may come later, or be a stream that goes on with each http_wake().
 *
 * Before it calls a handler, the server refuses:
 *	a name in Host if there is no token (DNS rebinding), and requests of other origins;
 *	wrong or missing tokens, in the query as token= or as a bearer (compared in constant time);
 *	methods and paths without a route;
 *	heads above 16 KiB, bodies above the route's limit, and those that take too long;
 *	clients beyond the limit, and too many requests of one address.
 * At most half of the clients may wait for http_wake(). The server disconnects a client that
 * does not receive its answer in time. Every answer has headers that forbid sniffing, framing,
 * foreign scripts and referrers. doc/serve.md and doc/security.md have the numbers.
 */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

struct http_server;
struct http_exchange;

/* What a handler has done. */
enum http_step {
	HTTP_DONE,  /* the answer is whole */
	HTTP_LATER, /* nothing is written yet: call again after the next http_wake() */
	HTTP_MORE,  /* send what is written, and call again after the next http_wake(), once the
		     * client has taken all of it; for HEAD this is HTTP_DONE */
	HTTP_AGAIN, /* the same without http_wake(): for a long answer, piece by piece */
};

/* Answers one request, or continues to. Unless part of the answer was sent, an error is answered
 * with its text. Its errnum selects the status: 400 (EINVAL), 403 (EPERM), 404 (ENOENT), 422
 * (EBADMSG), 429 (EDQUOT) and 503 (EBUSY), both with Retry-After; 500 for any other. */
typedef struct error *http_handler(struct http_exchange *exchange, void *context,
				   enum http_step *ret);

/* Receives a body piece by piece, so that the server does not keep it in memory. */
struct http_upload {
	/* Called when the head is complete and a body of `length` bytes follows. An error is
	 * answered as that of a handler, and the body is not read. */
	struct error *(*begin)(struct http_exchange *exchange, void *context, uint64_t length);
	/* Called for each piece of the body. An error ends the connection. */
	struct error *(*take)(struct http_exchange *exchange, void *context, struct text piece);
};

struct http_route {
	const char *method; /* "GET" (serves HEAD as well), "POST" */
	const char *path;   /* the whole path; a "*" at the end stands for anything */
	http_handler *handle;
	size_t body_most; /* bytes; 0: no body */
	bool is_open;     /* needs no token: static files of the page, and secret paths */
	/* Names that the query may have besides "token", separated by spaces; NULL: none. */
	const char *parameters;
	const struct http_upload *upload; /* NULL: http_body() has the body */
};

struct http_options {
	int listen_fd;         /* a listening socket, which becomes the server's */
	bool is_unix;          /* Host is not checked */
	const char *token;     /* that requests need; NULL: none */
	unsigned clients_most; /* at least 4; descriptors for 64 more are used */
};

struct error *http_open(const struct http_options *options, const struct http_route *routes,
			size_t route_count, void *context, struct http_server **ret) MUST_CHECK;
int http_fd(const struct http_server *server);
int http_timeout_ms(const struct http_server *server); /* -1: none */
struct error *http_serve(struct http_server *server) MUST_CHECK;
void http_wake(struct http_server *server);
/* Takes NULL. */
void http_close(struct http_server *server);
DEFINE_CLEANUP(http_close, struct http_server *)

/* Counts since the start, for /metrics. */
struct http_counts {
	uint64_t requests, refused, bytes;
	unsigned clients, streams; /* now */
};
struct http_counts http_counts(const struct http_server *server);

/* --- for handlers --- */

/* What of the path stood for the "*": has no "//", and no segment "." or "..". */
const char *http_rest(const struct http_exchange *exchange);
/* The value of `name` in the query, decoded; NULL: it is not there. */
const char *http_query(const struct http_exchange *exchange, const char *name);
/* A header; NULL: it is not there. Take lists apart with http_choice_next() (http_request.h). */
const char *http_header(const struct http_exchange *exchange, const char *name);
struct text http_body(const struct http_exchange *exchange);

/* Before the first byte; 200 and "application/json" if nothing else is said. */
void http_status(struct http_exchange *exchange, unsigned status);
void http_type(struct http_exchange *exchange, const char *type);
/* Add a header to the answer. It replaces the header of this name that every answer has. A value
 * with control characters is an error. */
struct error *http_add_header(struct http_exchange *exchange, const char *name,
			      const char *value) MUST_CHECK;
/* The bytes are such already (as of pprof): do not compress them for the client. Other answers of
 * 1 KiB and more, and streams, are sent with gzip to clients that accept it; each message of a
 * stream can be unpacked at once. */
void http_is_compressed(struct http_exchange *exchange);

/* Add to the answer; a json_sink, whose context is the exchange. */
struct error *http_write(void *exchange, const void *bytes, size_t length) MUST_CHECK;

/* Do both clients have the same address? All clients of a Unix socket do. */
bool http_same_address(const struct http_exchange *a, const struct http_exchange *b);
/* End the connection. */
void http_end(struct http_exchange *exchange);

/* A pointer that the handler finds again in its next call; `destroy` is called at the end. */
void http_keep(struct http_exchange *exchange, void *kept, void (*destroy)(void *kept));
void *http_kept(const struct http_exchange *exchange);

#endif
