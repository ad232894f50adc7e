/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What requests cost the server: its one thread, and memory for answers that clients have not
 * taken.
 */
#include <errno.h>

#include "base/clock.h"
#include "serve/http_internal.h"

/* Answers to routes that take longer than this come one after the other, and with as long a pause
 * as each took: so those who ask for little, and new connections, do not wait for all that ask for
 * much, who take half of a CPU at most. */
#define QUICK_NS       ((uint64_t)5 * 1000 * 1000)
#define POSTPONED_MOST 16

/* Of answers that are not taken, of all clients. */
#define HELD_MOST ((size_t)64 << 20)

static uint64_t *cost_of(const struct http_exchange *exchange)
{
	return &exchange->server->costs_ns[exchange->route - exchange->server->routes];
}

bool http_load_is_quick(const struct http_exchange *exchange)
{
	return *cost_of(exchange) <= QUICK_NS;
}

bool http_load_is_turn_of(const struct http_exchange *exchange)
{
	const struct http_server *server = exchange->server;

	return exchange->has_waited || http_load_is_quick(exchange) ||
	       (!server->postponed && server->pause_end_ns <= clock_ns(CLOCK_MONOTONIC));
}

void http_load_add(struct http_exchange *exchange, uint64_t begin_ns)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), spent = now - begin_ns;
	uint64_t *cost = cost_of(exchange);

	*cost = *cost ? (3 * *cost + spent) / 4 : spent;
	if (spent > QUICK_NS)
		exchange->server->pause_end_ns = now + spent;
}

bool http_load_postpone(struct http_exchange *exchange)
{
	if (exchange->server->postponed >= POSTPONED_MOST)
		return false;
	exchange->server->postponed++;
	exchange->is_postponed = true;
	return true;
}

void http_load_forget(struct http_exchange *exchange)
{
	exchange->server->postponed -= exchange->is_postponed;
	exchange->is_postponed = false;
}

int http_load_wait_ms(const struct http_server *server)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!server->postponed)
		return -1;
	return server->pause_end_ns > now ? (int)((server->pause_end_ns - now) / 1000000) + 1 : 0;
}

struct http_exchange *http_load_next(const struct http_server *server)
{
	struct http_exchange *oldest = NULL;

	if (!server->postponed || server->pause_end_ns > clock_ns(CLOCK_MONOTONIC))
		return NULL;
	/* The last one made comes first. */
	for (struct http_exchange *i = server->exchanges; i; i = i->next)
		if (i->is_postponed)
			oldest = i;
	return oldest;
}

void http_load_hold(struct http_exchange *exchange, size_t bytes)
{
	exchange->server->held -= exchange->held;
	exchange->server->held += bytes;
	exchange->held = bytes;
}

/* The one that has been taking its answer for longest. */
static struct http_exchange *slowest_taker(const struct http_server *server, uint64_t now_ms)
{
	struct http_exchange *slowest = NULL;

	for (struct http_exchange *i = server->exchanges; i; i = i->next)
		if (i->held && !i->client->is_ended && i->client->deadline_ms &&
		    i->client->replaceable_ms <= now_ms &&
		    (!slowest || i->client->since_ms < slowest->client->since_ms))
			slowest = i;
	return slowest;
}

bool http_load_has_memory(struct http_server *server)
{
	while (server->held > HELD_MOST) {
		struct http_exchange *slowest = slowest_taker(server, http_now_ms());

		if (!slowest)
			return false;
		http_clients_end(&server->clients, slowest->client);
		http_load_hold(slowest, 0);
	}
	return true;
}
