/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "serve/web.h"

/* A client that waits for the next snapshot after number `seen`. */
struct snapshot_reader {
	uint64_t seen, since_ns;
};

struct error *snapshots_take(struct snapshots *snapshots, const struct reply_header *header,
			     const char *bytes)
{
	size_t length;
	char *copy = reply_copy(header, bytes, &length);

	if (!copy)
		return &error_no_memory;
	free(snapshots->bytes);
	*snapshots = (struct snapshots){
		.number = snapshots->number + 1,
		.bytes = copy,
		.length = length,
		.has_failed = header->status != REPLY_DONE,
	};
	return NULL;
}

static struct error *ask(struct web *web, uint64_t now)
{
	struct error *err;

	if (web->snapshots.asked_ns)
		return NULL;
	err = request_send(web->options->socket, REQUEST_SNAPSHOT, 0);
	if (!err)
		web->snapshots.asked_ns = now;
	return err;
}

static struct error *begin(struct http_exchange *exchange, struct web *web, uint64_t now,
			   struct snapshot_reader **ret)
{
	struct snapshot_reader *waiting = calloc(1, sizeof(*waiting));

	if (!waiting)
		return &error_no_memory;
	*waiting = (struct snapshot_reader){ web->snapshots.number, now };
	http_keep(exchange, waiting, free);
	*ret = waiting;
	return ask(web, now);
}

static struct error *send_snapshot(struct http_exchange *exchange,
				   const struct snapshots *snapshots)
{
	struct error *err;

	if (snapshots->has_failed)
		return error_create("no snapshot: %s", snapshots->bytes);
	err = http_add_header(exchange, "Content-Disposition",
			      "attachment; filename=\"snapshot.ctprof.zst\"");
	if (err)
		return err;
	http_type(exchange, "application/zstd");
	http_is_compressed(exchange);
	return http_write(exchange, snapshots->bytes, snapshots->length);
}

struct error *answer_snapshot(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	struct web *web = context;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct snapshot_reader *waiting = http_kept(exchange);
	struct error *err = waiting ? NULL : begin(exchange, web, now, &waiting);

	*ret = HTTP_DONE;
	if (err)
		return err;
	if (web->snapshots.number != waiting->seen)
		return send_snapshot(exchange, &web->snapshots);
	if (now - waiting->since_ns > SNAPSHOT_PATIENCE_NS)
		return error_create("no snapshot came within a minute");
	*ret = HTTP_LATER;
	return NULL;
}
