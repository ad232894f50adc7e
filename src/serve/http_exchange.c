/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/http_internal.h"

#include <errno.h>
#include <strings.h>

#include "base/clock.h"

/* Smaller answers fit into one packet either way. */
#define GZIP_LEAST ((size_t)1024)

/* Of a stream at a time, from the memory of its connection. */
#define STREAM_PIECE ((size_t)16 * 1024)

/*
 * The page loads scripts, styles and data of this server alone and runs no script within the
 * document; it is in no frame, and no other origin embeds or opens what is here. Addresses have
 * tokens, so no other server learns them.
 */
static const char *const always[][2] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
	  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
};

struct http_exchange *http_exchange_create(struct http_server *server,
					   struct MHD_Connection *connection, const char *uri)
{
	struct http_exchange *exchange = calloc(1, sizeof(*exchange));

	if (!exchange)
		return NULL;
	exchange->server = server;
	exchange->connection = connection;
	exchange->client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
				   ->socket_context;
	exchange->status = MHD_HTTP_OK;
	exchange->error = http_target_parse(uri ? uri : "", &exchange->target);
	exchange->next = server->exchanges;
	if (exchange->next)
		exchange->next->previous = exchange;
	server->exchanges = exchange;
	return exchange;
}

static void unlink_exchange(struct http_exchange *exchange)
{
	if (exchange->next)
		exchange->next->previous = exchange->previous;
	if (exchange->previous)
		exchange->previous->next = exchange->next;
	else
		exchange->server->exchanges = exchange->next;
}

static void stop_waiting(struct http_exchange *exchange)
{
	exchange->server->waiting -= exchange->is_waiting;
	exchange->is_waiting = false;
}

void http_exchange_destroy(struct http_exchange *exchange)
{
	if (!exchange)
		return;
	unlink_exchange(exchange);
	http_load_hold(exchange, 0);
	http_load_forget(exchange);
	exchange->server->counts.streams -= exchange->is_stream;
	stop_waiting(exchange);
	if (exchange->client)
		http_client_set_deadline(exchange->client, DEADLINE_REQUEST, 0, http_now_ms());
	if (exchange->destroy)
		exchange->destroy(exchange->kept);
	gzip_writer_deinit(&exchange->gzip);
	for (size_t i = 0; i < exchange->headers.count; i++) {
		free(exchange->headers.items[i].name);
		free(exchange->headers.items[i].value);
	}
	array_deinit(&exchange->headers);
	array_deinit(&exchange->written);
	array_deinit(&exchange->body);
	free(exchange->type);
	http_target_deinit(&exchange->target);
	error_destroy(exchange->error);
	free(exchange);
}

/* --- for handlers --- */

const char *http_rest(const struct http_exchange *exchange)
{
	const size_t length = strlen(exchange->route->path);
	const bool is_open_ended = length && exchange->route->path[length - 1] == '*';

	return exchange->target.path + length - is_open_ended;
}

const char *http_query(const struct http_exchange *exchange, const char *name)
{
	return http_target_value(&exchange->target, name);
}

const char *http_header(const struct http_exchange *exchange, const char *name)
{
	return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

struct text http_body(const struct http_exchange *exchange)
{
	return (struct text){ exchange->body.items ? exchange->body.items : "",
			      exchange->body.count };
}

void http_status(struct http_exchange *exchange, unsigned status)
{
	exchange->status = status;
}

void http_type(struct http_exchange *exchange, const char *type)
{
	free(exchange->type);
	exchange->type = strdup(type);
}

static bool is_header_value(const char *value)
{
	for (; *value; value++)
		if ((unsigned char)*value < ' ' || *value == '\x7f')
			return false;
	return true;
}

struct error *http_add_header(struct http_exchange *exchange, const char *name, const char *value)
{
	struct http_own_header header;

	if (!is_header_value(value))
		return error_create("control characters in the header %s", name);
	header = (struct http_own_header){ strdup(name), strdup(value) };
	if (header.name && header.value && array_push(&exchange->headers, header))
		return NULL;
	free(header.name);
	free(header.value);
	return &error_no_memory;
}

bool http_same_address(const struct http_exchange *a, const struct http_exchange *b)
{
	return !memcmp(&a->client->address, &b->client->address, sizeof(a->client->address));
}

void http_end(struct http_exchange *exchange)
{
	http_clients_end(&exchange->server->clients, exchange->client);
}

void http_is_compressed(struct http_exchange *exchange)
{
	exchange->is_compressed = true;
}

/* A sink for bytes that are sent as they are. */
static struct error *write_plainly(void *context, const void *bytes, size_t length)
{
	struct http_exchange *exchange = context;

	if (!length)
		return NULL;
	if (!array_reserve(&exchange->written, length))
		return &error_no_memory;
	memcpy(exchange->written.items + exchange->written.count, bytes, length);
	exchange->written.count += length;
	return NULL;
}

struct error *http_write(void *context, const void *bytes, size_t length)
{
	struct http_exchange *exchange = context;

	return exchange->gzip.is_open ? gzip_write(&exchange->gzip, bytes, length)
				      : write_plainly(exchange, bytes, length);
}

void http_keep(struct http_exchange *exchange, void *kept, void (*destroy)(void *kept))
{
	if (exchange->destroy)
		exchange->destroy(exchange->kept);
	exchange->kept = kept;
	exchange->destroy = destroy;
}

void *http_kept(const struct http_exchange *exchange)
{
	return exchange->kept;
}

/* --- answers --- */

static bool may_compress(const struct http_exchange *exchange)
{
	return !exchange->is_compressed &&
	       http_accepts_encoding(http_header(exchange, MHD_HTTP_HEADER_ACCEPT_ENCODING),
				     TEXT("gzip"));
}

/* Pack an answer that is whole, where that makes it smaller. */
static struct error *compress_whole(struct http_exchange *exchange)
{
	struct http_bytes plain = exchange->written;
	struct error *err;

	if (plain.count < GZIP_LEAST || !may_compress(exchange))
		return NULL;
	exchange->written = (struct http_bytes){ 0 };
	err = gzip_writer_init_fast(&exchange->gzip, write_plainly, exchange);
	if (!err)
		err = gzip_write(&exchange->gzip, plain.items, plain.count);
	if (!err)
		err = gzip_finish(&exchange->gzip);
	if (err || exchange->written.count >= plain.count) {
		array_deinit(&exchange->written);
		exchange->written = plain;
		gzip_writer_deinit(&exchange->gzip);
	} else {
		array_deinit(&plain);
	}
	return err;
}

/* A stream is packed as it goes on; what its handler has written so far is plain. */
static struct error *compress_stream(struct http_exchange *exchange)
{
	struct http_bytes plain = exchange->written;
	struct error *err;

	if (!may_compress(exchange))
		return NULL;
	exchange->written = (struct http_bytes){ 0 };
	err = gzip_writer_init_fast(&exchange->gzip, write_plainly, exchange);
	if (!err)
		err = gzip_write(&exchange->gzip, plain.items, plain.count);
	if (!err)
		err = gzip_flush(&exchange->gzip);
	array_deinit(&plain);
	return err;
}

static bool has_header(const struct http_exchange *exchange, const char *name)
{
	for (size_t i = 0; i < exchange->headers.count; i++)
		if (!strcasecmp(exchange->headers.items[i].name, name))
			return true;
	return false;
}

static bool add_headers(const struct http_exchange *exchange, struct MHD_Response *response)
{
	const char *type = exchange->type ? exchange->type : "application/json";
	bool added = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);

	for (size_t i = 0; added && i < array_length(always); i++)
		if (!has_header(exchange, always[i][0]))
			added = MHD_add_response_header(response, always[i][0], always[i][1]);
	for (size_t i = 0; added && i < exchange->headers.count; i++)
		added = MHD_add_response_header(response, exchange->headers.items[i].name,
						exchange->headers.items[i].value);
	if (added && !exchange->is_compressed)
		added = MHD_add_response_header(response, MHD_HTTP_HEADER_VARY,
						MHD_HTTP_HEADER_ACCEPT_ENCODING);
	if (added && exchange->gzip.is_open)
		added = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	return added;
}

static enum MHD_Result queue(struct http_exchange *exchange, struct MHD_Response *response)
{
	enum MHD_Result queued = MHD_NO;

	if (!response)
		return MHD_NO;
	if (add_headers(exchange, response))
		queued = MHD_queue_response(exchange->connection, exchange->status, response);
	MHD_destroy_response(response);
	return queued;
}

static enum MHD_Result queue_whole(struct http_exchange *exchange)
{
	struct http_bytes *written = &exchange->written;
	struct MHD_Response *response = MHD_create_response_from_buffer(
		written->count, written->items, MHD_RESPMEM_MUST_FREE);

	if (response) {
		exchange->server->counts.bytes += written->count;
		http_load_hold(exchange, written->count);
		http_client_set_deadline(exchange->client, DEADLINE_ANSWER, written->count,
					 http_now_ms());
		*written = (struct http_bytes){ 0 };
	}
	return queue(exchange, response);
}

static enum MHD_Result queue_error(struct http_exchange *exchange, const char *message)
{
	exchange->written.count = 0;
	exchange->is_compressed = true;
	gzip_writer_deinit(&exchange->gzip);
	http_type(exchange, "text/plain; charset=utf-8");
	error_destroy(write_plainly(exchange, message, strlen(message)));
	error_destroy(write_plainly(exchange, "\n", 1));
	return queue_whole(exchange);
}

enum MHD_Result http_exchange_refuse(struct http_exchange *exchange, unsigned status,
				     const char *why)
{
	exchange->server->counts.refused++;
	exchange->status = status;
	return queue_error(exchange, why);
}

static enum MHD_Result refuse_for_now(struct http_exchange *exchange, unsigned status,
				      const char *why)
{
	error_destroy(http_add_header(exchange, MHD_HTTP_HEADER_RETRY_AFTER, "5"));
	return http_exchange_refuse(exchange, status, why);
}

static enum MHD_Result refuse_busy(struct http_exchange *exchange, const char *why)
{
	return refuse_for_now(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, why);
}

static const struct {
	int errnum;
	unsigned status;
	bool is_for_now;
} failures[] = {
	{ EINVAL, MHD_HTTP_BAD_REQUEST, false },
	{ EPERM, MHD_HTTP_FORBIDDEN, false },
	{ ENOENT, MHD_HTTP_NOT_FOUND, false },
	{ EBADMSG, MHD_HTTP_UNPROCESSABLE_CONTENT, false },
	{ EDQUOT, MHD_HTTP_TOO_MANY_REQUESTS, true },
	{ EBUSY, MHD_HTTP_SERVICE_UNAVAILABLE, true },
};

enum MHD_Result http_exchange_fail(struct http_exchange *exchange, struct error *err)
{
	unsigned status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	bool is_for_now = false;
	enum MHD_Result queued;

	for (size_t i = 0; i < array_length(failures); i++)
		if (failures[i].errnum == err->errnum) {
			status = failures[i].status;
			is_for_now = failures[i].is_for_now;
		}
	queued = is_for_now ? refuse_for_now(exchange, status, err->message)
			    : http_exchange_refuse(exchange, status, err->message);
	error_destroy(err);
	return queued;
}

static void suspend(struct http_exchange *exchange)
{
	http_client_clear_deadline(exchange->client);
	exchange->is_suspended = true;
	MHD_suspend_connection(exchange->connection);
}

void http_exchange_resume(struct http_exchange *exchange)
{
	if (!exchange->is_suspended)
		return;
	/* Nothing is read from it meanwhile, which would tell. */
	if (http_client_is_gone(exchange->client))
		http_clients_end(&exchange->server->clients, exchange->client);
	exchange->is_suspended = false;
	MHD_resume_connection(exchange->connection);
}

/* Those whose clients have gone while they were suspended do not count. */
static void forget_gone(struct http_server *server)
{
	for (struct http_exchange *i = server->exchanges; i; i = i->next) {
		if (!(i->is_waiting || i->is_postponed) || !i->is_suspended ||
		    !http_client_is_gone(i->client))
			continue;
		http_exchange_resume(i);
		http_load_forget(i);
		stop_waiting(i);
	}
}

/* Call the handler again at the next http_wake(). False: too many exchanges wait already. */
static bool wait_for_wake(struct http_exchange *exchange)
{
	struct http_server *server = exchange->server;
	const unsigned most = (server->clients.most + 1) / 2;

	if (exchange->is_waiting)
		return true;
	if (server->waiting >= most)
		forget_gone(server);
	if (server->waiting >= most)
		return false;
	server->waiting++;
	exchange->is_waiting = true;
	return true;
}

/* False: too many are. */
static bool postpone(struct http_exchange *exchange)
{
	if (http_load_postpone(exchange))
		return true;
	forget_gone(exchange->server);
	return http_load_postpone(exchange);
}

/* --- streams --- */

static struct error *step_stream(struct http_exchange *exchange)
{
	enum http_step step = HTTP_DONE;
	struct error *err;

	exchange->written.count = exchange->taken = 0;
	err = exchange->route->handle(exchange, exchange->server->context, &step);
	exchange->has_ended = step == HTTP_DONE;
	exchange->is_due = step == HTTP_AGAIN && exchange->written.count;
	if (!err && exchange->gzip.is_open)
		err = exchange->has_ended ? gzip_finish(&exchange->gzip)
					  : gzip_flush(&exchange->gzip);
	http_load_hold(exchange, exchange->written.count);
	http_client_set_deadline(exchange->client, DEADLINE_ANSWER, exchange->written.count,
				 http_now_ms());
	return err;
}

static size_t left_to_take(const struct http_exchange *exchange)
{
	return exchange->written.count - exchange->taken;
}

/* Called by libmicrohttpd when it has sent the previous piece of a stream: give it the next one.
 * When all that the handler wrote is sent, and the exchange was woken, call the handler again. */
static ssize_t read_piece(void *context, uint64_t at, char *to, size_t most)
{
	struct http_exchange *exchange = context;
	size_t length;

	(void)at;
	if (exchange->client->is_ended)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (!left_to_take(exchange) && !exchange->has_ended && exchange->is_due &&
	    http_load_has_memory(exchange->server)) {
		struct error *err = step_stream(exchange);

		if (err) {
			error_destroy(err);
			return MHD_CONTENT_READER_END_WITH_ERROR;
		}
	}
	length = left_to_take(exchange) < most ? left_to_take(exchange) : most;
	if (length) {
		memcpy(to, exchange->written.items + exchange->taken, length);
		exchange->taken += length;
		exchange->server->counts.bytes += length;
		return (ssize_t)length;
	}
	if (exchange->has_ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	array_clear(&exchange->written);
	exchange->taken = 0;
	http_load_hold(exchange, 0);
	suspend(exchange);
	return 0;
}

static enum MHD_Result queue_stream(struct http_exchange *exchange)
{
	struct error *err = compress_stream(exchange);

	if (err)
		return http_exchange_fail(exchange, err);
	exchange->is_stream = true;
	exchange->server->counts.streams++;
	http_load_hold(exchange, exchange->written.count);
	http_client_set_deadline(exchange->client, DEADLINE_ANSWER, exchange->written.count,
				 http_now_ms());
	return queue(exchange, MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_PIECE,
								 read_piece, exchange, NULL));
}

/* Call the handler for the first time, or again after HTTP_LATER, and pack what is whole. */
static struct error *make_answer(struct http_exchange *exchange, enum http_step *ret)
{
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	struct error *err;

	exchange->is_due = exchange->has_waited = false;
	err = exchange->route->handle(exchange, exchange->server->context, ret);
	/* The client of HEAD takes nothing, so a stream would not go on. */
	if (*ret != HTTP_LATER && exchange->is_head)
		*ret = HTTP_DONE;
	if (!err && *ret == HTTP_DONE)
		err = compress_whole(exchange);
	if (*ret != HTTP_LATER)
		http_load_add(exchange, begin);
	return err;
}

enum MHD_Result http_exchange_answer(struct http_exchange *exchange)
{
	enum http_step step = HTTP_DONE;
	struct error *err;

	if (!http_load_is_turn_of(exchange)) {
		if (!postpone(exchange))
			return refuse_busy(exchange, "too many requests for large answers");
		suspend(exchange);
		return MHD_YES;
	}
	if (!http_load_is_quick(exchange) && !http_load_has_memory(exchange->server))
		return refuse_busy(exchange, "too much data waits for slow clients");
	if (!exchange->is_waiting &&
	    !http_clients_count_request(&exchange->server->clients, RATE_ANSWERED, exchange->client,
					http_now_ms()))
		return refuse_busy(exchange, "too many requests");
	err = make_answer(exchange, &step);
	if (err)
		return http_exchange_fail(exchange, err);
	if (step == HTTP_DONE)
		return queue_whole(exchange);
	if (!wait_for_wake(exchange))
		return refuse_busy(exchange, "too many clients wait for data");
	if (step == HTTP_LATER) {
		suspend(exchange);
		return MHD_YES;
	}
	exchange->is_due = step == HTTP_AGAIN;
	return queue_stream(exchange);
}
