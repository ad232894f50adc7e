/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/http_clients.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"

#define HEAD_MS     ((uint64_t)10 * 1000)
#define TRANSFER_MS ((uint64_t)30 * 1000)
#define BYTES_IN_MS 16
#define TAKING_MS   2000

static const struct {
	uint64_t in_s, at_once;
} rates_most[] = {
	[RATE_ANSWERED] = { 1000, 2000 },
	[RATE_REFUSED] = { 20, 200 },
};

/* Rates are counted in thousandths of requests, so in requests for each ms. */
#define REQUEST ((uint64_t)1000)

struct http_address http_address_of(const struct sockaddr *address)
{
	struct http_address ret = { 0 };

	if (address && address->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;

		ret.bytes[10] = ret.bytes[11] = 0xff; /* as IPv6 maps it */
		memcpy(ret.bytes + 12, &v4->sin_addr, 4);
	} else if (address && address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
		const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);

		memcpy(ret.bytes, &v6->sin6_addr, is_mapped ? 16 : 8);
	}
	return ret;
}

static bool same_address(const struct http_address *a, const struct http_address *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static bool may_be_replaced(const struct http_peer *client, uint64_t now_ms)
{
	return !client->is_ended && client->deadline_ms && client->replaceable_ms <= now_ms;
}

static unsigned count_of(const struct http_clients *clients, const struct http_address *address)
{
	unsigned count = 0;

	for (const struct http_peer *i = clients->first; i; i = i->next)
		count += !i->is_ended && same_address(&i->address, address);
	return count;
}

/* Of the clients of `address` that may be replaced, the one that has kept the server waiting for
 * longest; NULL: there is none. */
static struct http_peer *slowest_of(const struct http_clients *clients,
				    const struct http_address *address, uint64_t now_ms)
{
	struct http_peer *slowest = NULL;

	for (struct http_peer *i = clients->first; i; i = i->next)
		if (may_be_replaced(i, now_ms) && same_address(&i->address, address) &&
		    (!slowest || i->since_ms <= slowest->since_ms))
			slowest = i;
	return slowest;
}

/* The same of the address that has most clients, of those that have such a one. */
static struct http_peer *slowest_of_all(const struct http_clients *clients, uint64_t now_ms)
{
	struct http_peer *slowest = NULL;
	unsigned most = 0;

	for (const struct http_peer *i = clients->first; i; i = i->next) {
		unsigned count;

		if (!may_be_replaced(i, now_ms) ||
		    (slowest && same_address(&i->address, &slowest->address)))
			continue;
		count = count_of(clients, &i->address);
		if (count > most) {
			most = count;
			slowest = slowest_of(clients, &i->address, now_ms);
		}
	}
	return slowest;
}

/* Make room for a new client, or end the new one. */
static void bound(struct http_clients *clients, struct http_peer *added, uint64_t now_ms)
{
	struct http_peer *victim = NULL;

	if (count_of(clients, &added->address) > clients->most - clients->most / 4)
		victim = slowest_of(clients, &added->address, now_ms);
	else if (clients->count > clients->most)
		victim = slowest_of_all(clients, now_ms);
	else
		return;
	http_clients_end(clients, victim ? victim : added);
}

struct http_peer *http_clients_add(struct http_clients *clients, int fd,
				   const struct sockaddr *address, uint64_t now_ms)
{
	struct http_peer *client = malloc(sizeof(*client));

	if (!client)
		return NULL;
	*client = (struct http_peer){
		.next = clients->first,
		.address = http_address_of(address),
		.fd = fd,
		.since_ms = now_ms,
		.deadline_ms = now_ms + HEAD_MS,
		.replaceable_ms = now_ms,
	};
	if (client->next)
		client->next->previous = client;
	clients->first = client;
	clients->count++;
	bound(clients, client, now_ms);
	return client;
}

void http_clients_remove(struct http_clients *clients, struct http_peer *client)
{
	if (client->next)
		client->next->previous = client->previous;
	if (client->previous)
		client->previous->next = client->next;
	else
		clients->first = client->next;
	clients->count -= !client->is_ended;
	free(client);
}

void http_client_set_deadline(struct http_peer *client, enum http_deadline deadline, uint64_t bytes,
			      uint64_t now_ms)
{
	client->since_ms = now_ms;
	client->deadline_ms = now_ms + TRANSFER_MS + bytes / BYTES_IN_MS;
	client->replaceable_ms = deadline == DEADLINE_ANSWER ? now_ms + TAKING_MS : now_ms;
}

void http_client_clear_deadline(struct http_peer *client)
{
	client->deadline_ms = 0;
}

void http_clients_end(struct http_clients *clients, struct http_peer *client)
{
	const struct linger at_once = { .l_onoff = 1 };

	if (client->is_ended)
		return;
	client->is_ended = true;
	clients->count--;
	/* libmicrohttpd learns of it as of any client that goes, and closes it. The kernel then
	 * drops what is still to be sent. */
	setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	shutdown(client->fd, SHUT_RDWR);
}

void http_clients_end_late(struct http_clients *clients, uint64_t now_ms)
{
	for (struct http_peer *i = clients->first; i; i = i->next)
		if (i->deadline_ms && i->deadline_ms <= now_ms)
			http_clients_end(clients, i);
}

int http_clients_wait_ms(const struct http_clients *clients, uint64_t now_ms)
{
	uint64_t next = UINT64_MAX;

	for (const struct http_peer *i = clients->first; i; i = i->next)
		if (!i->is_ended && i->deadline_ms && i->deadline_ms < next)
			next = i->deadline_ms;
	if (next == UINT64_MAX)
		return -1;
	if (next <= now_ms)
		return 0;
	return next - now_ms < INT32_MAX ? (int)(next - now_ms) : INT32_MAX;
}

bool http_client_is_gone(const struct http_peer *client)
{
	char byte;
	ssize_t length = recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return !length || (length < 0 && errno != EAGAIN && errno != EINTR);
}

/* The rate of the address, or the one that was used longest ago, for it. */
static struct http_rate *rate_of(struct http_rate *rates, size_t count, uint64_t most,
				 const struct http_address *address)
{
	struct http_rate *oldest = &rates[0];

	for (size_t i = 0; i < count; i++) {
		if (rates[i].at_ms && same_address(&rates[i].address, address))
			return &rates[i];
		if (rates[i].at_ms < oldest->at_ms)
			oldest = &rates[i];
	}
	*oldest = (struct http_rate){ .address = *address, .left = most };
	return oldest;
}

bool http_clients_count_request(struct http_clients *clients, enum http_rate_kind kind,
				const struct http_peer *client, uint64_t now_ms)
{
	const uint64_t most = rates_most[kind].at_once * REQUEST;
	struct http_rate *rate = rate_of(clients->rates[kind], array_length(clients->rates[kind]),
					 most, &client->address);
	const uint64_t passed = rate->at_ms ? now_ms - rate->at_ms : 0;

	rate->left = passed > most / rates_most[kind].in_s
			     ? most
			     : rate->left + passed * rates_most[kind].in_s;
	if (rate->left > most)
		rate->left = most;
	rate->at_ms = now_ms;
	if (rate->left < REQUEST)
		return false;
	rate->left -= REQUEST;
	return true;
}
