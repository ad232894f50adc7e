/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stream of the page: readings as server-sent events (doc/serve.md). All clients are sent the
 * same ticks; each has its own position, and ticks are written as JSON when a client takes them.
 */
#ifndef SERVE_STREAM_H
#define SERVE_STREAM_H

#include "base/json_writer.h"
#include "serve/http.h"
#include "serve/store.h"

/* Handlers of /api/live and /api/about; the context is a struct web (serve/web.h). */
http_handler stream_live, stream_about;

/* What of the stream a client has. All zero is nothing. */
struct stream_position {
	uint64_t generation, seq; /* the last tick, or the one before the first to come */
	bool has_ticks;
	struct book_size sent;
};

/* Parse "3.1178": a generation and a tick, as in Last-Event-ID. `id` may be any string. False: it
 * is malformed, and `*ret` is unchanged. */
bool stream_parse_id(const char *id, struct stream_position *ret);

/* The object of an `about` event. */
void stream_write_about(struct json_writer *w, const struct tick_store *store,
			uint64_t interval_ns);

/* The object of a `tick` event for `tick`, which is one of `store`, and after which the client has
 * what `position` then says. */
struct error *stream_write_tick(struct json_writer *w, const struct tick_store *store,
				const struct store_tick *tick,
				struct stream_position *position) MUST_CHECK;

#endif
