/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/http_internal.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "serve/http_guard.h"

/* Of a request line and its headers. */
#define HEAD_MOST ((size_t)16 * 1024)

/* What libmicrohttpd has for a connection: the head and what it makes of it, and later a piece of
 * the answer. A head that does not fit gets status 431 or 414. */
#define CLIENT_MEMORY ((size_t)32 * 1024)

/* Connections that are ended and not yet closed. */
#define CLIENTS_ENDED 64

/* What the kernel keeps for a connection, in each direction: it grows to megabytes otherwise. */
#define CLIENT_BUFFER (128 * 1024)

/* So many new connections, in elevens, are taken before what they ask for is answered. */
#define ACCEPT_ROUNDS 16

/* Without a byte in either direction, unless a handler has the answer to come. */
#define SILENCE_S 30u

/* --- routes --- */

static bool route_fits(const struct http_route *route, const char *path)
{
	const size_t length = strlen(route->path);

	if (length && route->path[length - 1] == '*')
		return !strncmp(path, route->path, length - 1);
	return !strcmp(path, route->path);
}

static bool method_fits(const struct http_route *route, const char *method)
{
	return !strcmp(route->method, method) ||
	       (!strcmp(method, "HEAD") && !strcmp(route->method, "GET"));
}

/* NULL: none; `ret_allowed` then gets the methods that the path has, for Allow. */
static const struct http_route *find_route(const struct http_server *server, const char *path,
					   const char *method, char ret_allowed[64])
{
	*ret_allowed = '\0';
	for (size_t i = 0; i < server->route_count; i++) {
		const struct http_route *route = &server->routes[i];

		if (!route_fits(route, path))
			continue;
		if (method_fits(route, method))
			return route;
		snprintf(ret_allowed + strlen(ret_allowed), 64 - strlen(ret_allowed), "%s%s%s",
			 *ret_allowed ? ", " : "", route->method,
			 !strcmp(route->method, "GET") ? ", HEAD" : "");
	}
	return NULL;
}

static enum MHD_Result refuse_route(struct http_exchange *exchange, const char *allowed)
{
	struct error *err;

	if (!*allowed)
		return http_exchange_refuse(exchange, MHD_HTTP_NOT_FOUND, "not found");
	err = http_add_header(exchange, MHD_HTTP_HEADER_ALLOW, allowed);
	error_destroy(err);
	return http_exchange_refuse(exchange, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed");
}

/* --- requests --- */

struct header_count {
	const char *name;
	unsigned count;
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	struct header_count *counted = context;

	(void)kind;
	(void)value;
	counted->count += !strcasecmp(name, counted->name);
	return MHD_YES;
}

static unsigned count_of(const struct http_exchange *exchange, const char *header)
{
	struct header_count counted = { .name = header };

	MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, count_header, &counted);
	return counted.count;
}

/* How much body the head announces. False: in a way that is ambiguous or has no length. */
static bool read_body_length(const struct http_exchange *exchange, uint64_t *ret)
{
	const char *length = http_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);

	*ret = 0;
	if (http_header(exchange, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
	    count_of(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH) > 1)
		return false;
	return !length || text_u64(text_of(length), ret);
}

static size_t head_length(const struct http_exchange *exchange)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

	return info ? info->header_size : 0;
}

static bool host_is_own(const struct http_exchange *exchange)
{
	const struct http_server *server = exchange->server;
	const char *host = http_header(exchange, MHD_HTTP_HEADER_HOST);

	if (server->is_unix)
		return true;
	/* With a token any name will do: routes either require the token or serve no secrets. */
	return host && count_of(exchange, MHD_HTTP_HEADER_HOST) == 1 &&
	       (server->token || http_host_is_own(host));
}

static bool source_is_own(const struct http_exchange *exchange)
{
	const struct http_source source = {
		.host = http_header(exchange, MHD_HTTP_HEADER_HOST),
		.origin = http_header(exchange, MHD_HTTP_HEADER_ORIGIN),
		.site = http_header(exchange, "Sec-Fetch-Site"),
		.mode = http_header(exchange, "Sec-Fetch-Mode"),
	};

	return http_source_is_own(&source, exchange->route && exchange->route->is_open);
}

static bool has_token(const struct http_exchange *exchange)
{
	const char *token = exchange->server->token, *in_query = http_query(exchange, "token");
	const char *bearer =
		http_bearer_token(http_header(exchange, MHD_HTTP_HEADER_AUTHORIZATION));

	if (!token || (exchange->route && exchange->route->is_open))
		return true;
	return (bearer && http_token_equals(bearer, token)) ||
	       (in_query && http_token_equals(in_query, token));
}

/* Limit the rate of wrong tokens. */
static enum MHD_Result refuse_token(struct http_exchange *exchange)
{
	if (!http_clients_count_request(&exchange->server->clients, RATE_REFUSED, exchange->client,
					http_now_ms()))
		return http_exchange_refuse(exchange, MHD_HTTP_TOO_MANY_REQUESTS,
					    "too many wrong tokens");
	error_destroy(http_add_header(exchange, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer"));
	return http_exchange_refuse(exchange, MHD_HTTP_UNAUTHORIZED,
				    "token missing or wrong; use the URL that ctprof printed");
}

/* Refuse requests that no client may make. MHD_YES with `ret` false: the request has been refused.
 */
static enum MHD_Result guard(struct http_exchange *exchange, bool *ret)
{
	*ret = false;
	if (exchange->error)
		return http_exchange_refuse(exchange, MHD_HTTP_BAD_REQUEST,
					    exchange->error->message);
	if (head_length(exchange) > HEAD_MOST)
		return http_exchange_refuse(exchange, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE,
					    "headers too large");
	if (!host_is_own(exchange))
		return http_exchange_refuse(exchange, MHD_HTTP_FORBIDDEN,
					    "Host is neither an IP address nor localhost, and the "
					    "server has no token (--token)");
	if (!source_is_own(exchange))
		return http_exchange_refuse(exchange, MHD_HTTP_FORBIDDEN, "cross-origin request");
	if (!has_token(exchange))
		return refuse_token(exchange);
	*ret = true;
	return MHD_YES;
}

/* Refuse parameters that the route does not have: ignoring one would give another answer than the
 * client expects. MHD_YES with `ret` false: the request has been refused. */
static enum MHD_Result check_parameters(struct http_exchange *exchange, bool *ret)
{
	const char *known = exchange->route->parameters ? exchange->route->parameters : "";
	const char *unknown = http_target_unknown(&exchange->target, known);
	char why[256];

	*ret = !unknown;
	if (*ret)
		return MHD_YES;
	snprintf(why, sizeof(why), "unknown parameter '%.40s'; %s%s", unknown,
		 *known ? "this path has: " : "this path has none", known);
	return http_exchange_refuse(exchange, MHD_HTTP_BAD_REQUEST, why);
}

static enum MHD_Result begin_upload(struct http_exchange *exchange, uint64_t length)
{
	struct error *err =
		exchange->route->upload->begin(exchange, exchange->server->context, length);

	return err ? http_exchange_fail(exchange, err) : MHD_YES;
}

/* The head is whole. Refuse what will not be answered, before the body is read. */
static enum MHD_Result begin(struct http_exchange *exchange, const char *method)
{
	char allowed[64] = "";
	enum MHD_Result result;
	bool is_allowed;
	uint64_t body;

	exchange->is_begun = true;
	exchange->is_head = !strcmp(method, "HEAD");
	exchange->server->counts.requests++;
	if (!exchange->error)
		exchange->route =
			find_route(exchange->server, exchange->target.path, method, allowed);
	result = guard(exchange, &is_allowed);
	if (!is_allowed)
		return result;
	if (!exchange->route)
		return refuse_route(exchange, allowed);
	result = check_parameters(exchange, &is_allowed);
	if (!is_allowed)
		return result;
	if (!read_body_length(exchange, &body))
		return http_exchange_refuse(exchange, MHD_HTTP_LENGTH_REQUIRED, "length required");
	if (body > exchange->route->body_most)
		return http_exchange_refuse(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "body too large");
	http_client_set_deadline(exchange->client, DEADLINE_REQUEST, body, http_now_ms());
	return exchange->route->upload ? begin_upload(exchange, body) : MHD_YES;
}

static bool upload(struct http_exchange *exchange, struct text piece)
{
	struct error *err =
		exchange->route->upload->take(exchange, exchange->server->context, piece);

	error_destroy(err);
	return !err;
}

/* False: there is no memory, or the upload failed; libmicrohttpd then closes the connection. */
static bool add_to_body(struct http_exchange *exchange, const char *bytes, size_t length)
{
	struct http_bytes *body = &exchange->body;

	if (exchange->route->upload)
		return upload(exchange, (struct text){ bytes, length });
	if (length > exchange->route->body_most - body->count || !array_reserve(body, length))
		return false;
	memcpy(body->items + body->count, bytes, length);
	body->count += length;
	return true;
}

/* For libmicrohttpd: when the head is there, for each piece of the body, when all is there, and
 * again each time that the connection is resumed. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *body,
			      size_t *body_length, void **ret)
{
	struct http_exchange *exchange = *ret;

	(void)context;
	(void)connection;
	(void)url;
	(void)version;
	if (!exchange || !exchange->client || exchange->client->is_ended)
		return MHD_NO;
	if (!exchange->is_begun)
		return begin(exchange, method);
	if (*body_length) {
		const size_t length = *body_length;

		*body_length = 0;
		return add_to_body(exchange, body, length) ? MHD_YES : MHD_NO;
	}
	return http_exchange_answer(exchange);
}

/* For libmicrohttpd, when it has the request line. */
static void *begin_exchange(void *context, const char *uri, struct MHD_Connection *connection)
{
	return http_exchange_create(context, connection, uri);
}

static void end_exchange(void *context, struct MHD_Connection *connection, void **exchange,
			 enum MHD_RequestTerminationCode why)
{
	struct http_server *server = context;
	struct http_exchange *ended = *exchange;

	(void)connection;
	/* Otherwise the kernel would keep the rest of the answer for minutes. */
	if (ended && ended->client && why == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED)
		http_clients_end(&server->clients, ended->client);
	http_exchange_destroy(ended);
	*exchange = NULL;
}

static void begin_client(struct http_server *server, struct MHD_Connection *connection,
			 struct http_peer **ret)
{
	const int fd =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;

	server->accepted++;
	*ret = http_clients_add(
		&server->clients, fd,
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
			->client_addr,
		http_now_ms());
	if (!*ret)
		shutdown(fd, SHUT_RDWR);
}

/* For libmicrohttpd, when a connection is made and when it is closed. */
static void note_client(void *context, struct MHD_Connection *connection, void **client,
			enum MHD_ConnectionNotificationCode what)
{
	struct http_server *server = context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		begin_client(server, connection, (struct http_peer **)client);
	else if (*client)
		http_clients_remove(&server->clients, *client);
}

/* --- the server --- */

uint64_t http_now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / (NS_PER_S / 1000);
}

static struct error *start(struct http_server *server, int listen_fd)
{
	const int buffer = CLIENT_BUFFER;
	const unsigned silence_ms = SILENCE_S * 1000;

	/* Accepted sockets inherit these options. */
	setsockopt(listen_fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
	setsockopt(listen_fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	/* For clients that no longer answer, also after the connection was closed. */
	setsockopt(listen_fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof(silence_ms));
	errno = 0;
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, server,
		MHD_OPTION_LISTEN_SOCKET, listen_fd, MHD_OPTION_CONNECTION_LIMIT,
		server->clients.most + CLIENTS_ENDED, MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CLIENT_MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, server, MHD_OPTION_NOTIFY_COMPLETED,
		end_exchange, server, MHD_OPTION_NOTIFY_CONNECTION, note_client, server,
		MHD_OPTION_END);
	return server->daemon ? NULL : error_system(errno, "cannot start the HTTP server");
}

static void destroy(struct http_server *server)
{
	free(server->token);
	free(server->costs_ns);
	free(server);
}

struct error *http_open(const struct http_options *options, const struct http_route *routes,
			size_t route_count, void *context, struct http_server **ret)
{
	struct http_server *server = calloc(1, sizeof(*server));
	struct error *err;

	if (!server)
		return &error_no_memory;
	*server = (struct http_server){
		.routes = routes,
		.route_count = route_count,
		.context = context,
		.is_unix = options->is_unix,
		.token = options->token ? strdup(options->token) : NULL,
		.clients = { .most = options->clients_most },
		.costs_ns = calloc(route_count, sizeof(*server->costs_ns)),
	};
	if (!server->costs_ns || (options->token && !server->token))
		err = &error_no_memory;
	else
		err = start(server, options->listen_fd);
	if (err)
		destroy(server);
	else
		*ret = server;
	return err;
}

int http_fd(const struct http_server *server)
{
	return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

static int sooner(int a_ms, int b_ms)
{
	return a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;
}

int http_timeout_ms(const struct http_server *server)
{
	const int wait = sooner(http_clients_wait_ms(&server->clients, http_now_ms()),
				http_load_wait_ms(server));
	MHD_UNSIGNED_LONG_LONG timeout;

	if (!MHD_get_timeout(server->daemon, &timeout))
		return wait;
	return sooner(wait, timeout < INT_MAX ? (int)timeout : INT_MAX);
}

static void resume_postponed(struct http_server *server)
{
	struct http_exchange *next = http_load_next(server);

	if (!next)
		return;
	http_load_forget(next);
	next->has_waited = true;
	http_exchange_resume(next);
}

struct error *http_serve(struct http_server *server)
{
	unsigned before, rounds = 0;

	http_clients_end_late(&server->clients, http_now_ms());
	/* libmicrohttpd accepts 11 connections in a turn. */
	do {
		before = server->accepted;
		if (!MHD_run(server->daemon))
			return error_create("the HTTP server has stopped");
	} while (server->accepted - before > 10 && ++rounds < ACCEPT_ROUNDS);
	resume_postponed(server);
	return NULL;
}

void http_wake(struct http_server *server)
{
	for (struct http_exchange *i = server->exchanges; i; i = i->next) {
		i->is_due = true;
		if (!i->is_postponed)
			http_exchange_resume(i);
	}
}

void http_close(struct http_server *server)
{
	if (!server)
		return;
	/* libmicrohttpd ends connections that are not suspended. */
	for (struct http_exchange *i = server->exchanges; i; i = i->next)
		http_exchange_resume(i);
	MHD_stop_daemon(server->daemon);
	destroy(server);
}

struct http_counts http_counts(const struct http_server *server)
{
	struct http_counts counts = server->counts;

	counts.clients = server->clients.count;
	return counts;
}
