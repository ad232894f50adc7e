/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the HTTP server share: http.c runs it, http_exchange.c has what handlers see
 * and makes the answers.
 */
#ifndef SERVE_HTTP_INTERNAL_H
#define SERVE_HTTP_INTERNAL_H

#include <microhttpd.h>

#include "base/array.h"
#include "profile/gzip.h"
#include "serve/http.h"
#include "serve/http_clients.h"
#include "serve/http_request.h"

struct http_bytes {
	ARRAY(char);
};

struct http_own_header {
	char *name, *value;
};

struct http_server {
	struct MHD_Daemon *daemon;
	const struct http_route *routes;
	size_t route_count;
	void *context;
	bool is_unix;
	char *address, *token; /* of struct http_options */
	struct http_clients clients;
	struct http_exchange *exchanges;
	unsigned lasting; /* exchanges that go on with each http_wake() */
	struct http_counts counts;
};

struct http_exchange {
	struct http_server *server;
	struct MHD_Connection *connection;
	struct http_client *client; /* NULL: no memory for it; the connection is shut down */
	struct http_exchange *next, *previous;

	/* The request. */
	struct error *error; /* its target is broken */
	struct http_target target;
	const struct http_route *route;
	bool is_begun, is_head;
	struct http_bytes body;

	/* The answer. */
	unsigned status;
	char *type;
	struct http_headers {
		ARRAY(struct http_own_header);
	} headers;
	struct http_bytes written; /* by the handler, or packed */
	size_t taken;              /* of `written`, by the client's connection */
	bool is_compressed, is_lasting, is_stream, has_ended;
	struct gzip_writer gzip;

	bool is_suspended;
	bool is_due; /* for the next call of the handler: there was a http_wake() */
	void *kept;
	void (*destroy)(void *kept);
};

/* NULL: no memory. The exchange of a broken target has its error. */
struct http_exchange *http_exchange_create(struct http_server *server,
					   struct MHD_Connection *connection, const char *uri);
/* Takes NULL. */
void http_exchange_destroy(struct http_exchange *exchange);

/* Queue an answer that says why there is no other. */
enum MHD_Result http_exchange_refuse(struct http_exchange *exchange, unsigned status,
				     const char *why);

/* The clock of deadlines. */
uint64_t http_now_ms(void);

/* Call the handler; if it needs the next http_wake(), suspend the connection. */
enum MHD_Result http_exchange_answer(struct http_exchange *exchange);

#endif
