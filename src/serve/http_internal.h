/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the HTTP server share: http.c runs it, http_exchange.c has what handlers see
 * and makes the answers, http_load.c bounds what these cost.
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
	char *token; /* of struct http_options */
	struct http_clients clients;
	struct http_exchange *exchanges;
	uint64_t *costs_ns;    /* of an answer of each route, lately */
	uint64_t pause_end_ns; /* when the next postponed exchange is answered */
	unsigned postponed;    /* exchanges */
	size_t held;           /* bytes of all exchanges */
	unsigned accepted;     /* connections since the start */
	unsigned waiting;      /* exchanges that continue with the next http_wake() */
	struct http_counts counts;
};

struct http_exchange {
	struct http_server *server;
	struct MHD_Connection *connection;
	struct http_peer *client; /* NULL: no memory for it; the connection is shut down */
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
	bool is_compressed, is_waiting, is_stream, has_ended;
	struct gzip_writer gzip;

	size_t held; /* bytes of the answer that may not be taken yet */
	bool is_suspended;
	bool is_postponed, has_waited; /* for its turn */
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

/* Queue an answer with the text of the error, which is consumed. Its errnum selects the status
 * (http_handler in serve/http.h). */
enum MHD_Result http_exchange_fail(struct http_exchange *exchange, struct error *err);

/* If its connection is suspended, go on with it; or end it, if its client has gone. */
void http_exchange_resume(struct http_exchange *exchange);

/* The clock of deadlines. */
uint64_t http_now_ms(void);

/* Call the handler; if it needs the next http_wake(), suspend the connection. */
enum MHD_Result http_exchange_answer(struct http_exchange *exchange);

/* --- http_load.c --- */

/* Is the route one that takes little time? */
bool http_load_is_quick(const struct http_exchange *exchange);
/* May the handler be called now? Otherwise postpone it: false: too many are. */
bool http_load_is_turn_of(const struct http_exchange *exchange);
bool http_load_postpone(struct http_exchange *exchange);
/* It is no longer postponed. */
void http_load_forget(struct http_exchange *exchange);
/* The answer, or the first piece of it, was made since then. */
void http_load_add(struct http_exchange *exchange, uint64_t begin_ns);
/* The one whose turn it is now; NULL: there is none. And the ms until then; -1: none has been
 * postponed. */
struct http_exchange *http_load_next(const struct http_server *server);
int http_load_wait_ms(const struct http_server *server);

/* The answer of the exchange has so many bytes that may not be taken yet. */
void http_load_hold(struct http_exchange *exchange, size_t bytes);
/* Is there memory for another answer? Slow clients are ended for it. */
bool http_load_has_memory(struct http_server *server);

#endif
