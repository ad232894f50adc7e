/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "serve/query.h"
#include "serve/web.h"

struct error *stream_about(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	const struct web *web = context;
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };
	struct error *err;

	*ret = web->store->ticks.count ? HTTP_DONE : HTTP_LATER;
	if (*ret == HTTP_LATER)
		return NULL;
	err = json_writer_init(&w, http_write, exchange);
	if (err)
		return err;
	stream_write_about(&w, web->store, web->options->interval_ns);
	return json_writer_finish(&w);
}

bool stream_parse_id(const char *id, struct stream_position *ret)
{
	struct stream_position position = { 0 };
	struct text rest = text_of(id), generation;

	if (!text_cut(&rest, '.', &generation) || !text_u64(generation, &position.generation) ||
	    !text_u64(rest, &position.seq))
		return false;
	*ret = position;
	return true;
}

/* The number of the tick before the first one that a new client gets, by `history` of the query. */
static struct error *seq_before(const struct http_exchange *exchange,
				const struct tick_store *store, uint64_t *ret)
{
	const uint64_t now = store_now(store);
	uint64_t seconds = UINT64_MAX / NS_PER_S;
	struct error *err = query_number(exchange, "history", seconds, &seconds);
	size_t first, end;

	if (err)
		return err;
	seconds *= NS_PER_S;
	store_range(store, now > seconds ? now - seconds : 0, UINT64_MAX, &first, &end);
	*ret = store->last_seq - store->ticks.count + first;
	return NULL;
}

static struct error *put_event(struct http_exchange *exchange, const char *head)
{
	return http_write(exchange, head, strlen(head));
}

static struct error *send_about(struct http_exchange *exchange, const struct web *web)
{
	struct error *err = put_event(exchange, "event: about\ndata: ");
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };

	if (!err)
		err = json_writer_init(&w, http_write, exchange);
	if (err)
		return err;
	stream_write_about(&w, web->store, web->options->interval_ns);
	err = json_writer_finish(&w);
	return err ? err : put_event(exchange, "\n\n");
}

static struct error *send_reset(struct http_exchange *exchange, uint64_t generation)
{
	char event[80];

	snprintf(event, sizeof(event), "event: reset\ndata: {\"generation\":%" PRIu64 "}\n\n",
		 generation);
	return put_event(exchange, event);
}

static struct error *send_tick(struct http_exchange *exchange, const struct tick_store *store,
			       const struct store_tick *tick, struct stream_position *position)
{
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };
	struct error *err;
	char head[80];

	snprintf(head, sizeof(head),
		 "event: tick\nid: %" PRIu64 ".%" PRIu64 "\ndata: ", store->generation, tick->seq);
	err = put_event(exchange, head);
	if (!err)
		err = json_writer_init(&w, http_write, exchange);
	if (err)
		return err;
	err = stream_write_tick(&w, store, tick, position);
	if (!err)
		err = json_writer_finish(&w);
	return err ? err : put_event(exchange, "\n\n");
}

/* Begin, or begin anew, with the tick behind `seq`. */
static struct error *begin(struct http_exchange *exchange, const struct tick_store *store,
			   uint64_t seq, struct stream_position *position)
{
	*position = (struct stream_position){ .generation = store->generation, .seq = seq };
	return send_reset(exchange, store->generation);
}

static struct stream_position *new_position(struct http_exchange *exchange, const struct web *web)
{
	struct stream_position *position = calloc(1, sizeof(*position));
	const char *id = http_header(exchange, "Last-Event-ID");
	const struct store_tick *tick;

	if (!position)
		return NULL;
	http_keep(exchange, position, free);
	/* Resume after the last tick of the client's earlier connection, if it is still kept. */
	if (id && stream_parse_id(id, position) && position->generation == web->store->generation &&
	    (tick = store_tick(web->store, position->seq))) {
		position->has_ticks = true;
		position->sent = tick->after;
	} else {
		*position = (struct stream_position){ 0 };
	}
	return position;
}

struct error *stream_live(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	const struct web *web = context;
	const struct tick_store *store = web->store;
	struct stream_position *position = http_kept(exchange);
	struct error *err = NULL;
	uint64_t oldest, before;

	*ret = HTTP_LATER;
	if (!store->ticks.count)
		return NULL;
	*ret = HTTP_MORE;
	if (!position) {
		http_type(exchange, "text/event-stream");
		position = new_position(exchange, web);
		err = position ? send_about(exchange, web) : &error_no_memory;
	}
	if (!err)
		err = seq_before(exchange, store, &before);
	if (err)
		return err;
	oldest = store->last_seq - store->ticks.count;
	if (!position->generation)
		err = begin(exchange, store, before, position);
	else if (position->generation != store->generation || position->seq < oldest)
		err = begin(exchange, store, oldest, position);
	while (!err && position->seq < store->last_seq)
		err = send_tick(exchange, store, store_tick(store, position->seq + 1), position);
	return err;
}
