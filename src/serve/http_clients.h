/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connections of an HTTP server, and their bounds.
 *
 * Most of the time the server waits for a client: for its head, for the rest of a body, or until
 * the client has received its answer. Each of these has one deadline, which single bytes do not
 * extend. When there are too many clients, the server disconnects one: of the address with the most
 * clients, the client that has kept the server waiting for longest. So a thousand idle clients do
 * not keep out one that sends and receives at once.
 *
 * All clients of a reverse proxy, and of a Unix socket, have the same address.
 */
#ifndef SERVE_HTTP_CLIENTS_H
#define SERVE_HTTP_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr;

/* The network of a client: of IPv4 the address, of IPv6 what belongs to one subscriber (/64). */
struct http_address {
	unsigned char bytes[16];
};

struct http_address http_address_of(const struct sockaddr *address);

struct http_peer {
	struct http_peer *next, *previous;
	struct http_address address;
	int fd;
	uint64_t since_ms;       /* when the server began to wait for it */
	uint64_t deadline_ms;    /* of this wait; 0: the client waits for the server, and is kept */
	uint64_t replaceable_ms; /* from this time on, a new client may replace it */
	bool is_ended;           /* the connection is shut down, and will be closed */
};

/* Requests of an address: `left` thousandths of requests at `at_ms`. */
struct http_rate {
	struct http_address address;
	uint64_t left, at_ms;
};

/* Wrong tokens are counted apart from what is answered, so that guessing them is slow, and keeps no
 * requests with the right one from being answered. */
enum http_rate_kind { RATE_ANSWERED, RATE_REFUSED, RATE_COUNT };

struct http_clients {
	struct http_peer *first;
	unsigned most;  /* clients; those of one address: three quarters of it */
	unsigned count; /* that are not ended */
	struct http_rate rates[RATE_COUNT][128];
};

/* Add a client, with a deadline for its head. If there are too many clients, one of them is ended,
 * maybe the new one. NULL: no memory. */
struct http_peer *http_clients_add(struct http_clients *clients, int fd,
				   const struct sockaddr *address, uint64_t now_ms);
void http_clients_remove(struct http_clients *clients, struct http_peer *client);

enum http_deadline {
	DEADLINE_REQUEST, /* a head or a body */
	DEADLINE_ANSWER,  /* to receive an answer: the client is not replaced for 2 s */
};

/* Set the deadline for the transfer of `bytes`: in 30 s, plus one second for each 16 KiB. */
void http_client_set_deadline(struct http_peer *client, enum http_deadline deadline, uint64_t bytes,
			      uint64_t now_ms);
/* The client now waits for the server. */
void http_client_clear_deadline(struct http_peer *client);

/* Shut the connection down and forget what it has not taken. */
void http_clients_end(struct http_clients *clients, struct http_peer *client);

/* End all whose deadline is over. */
void http_clients_end_late(struct http_clients *clients, uint64_t now_ms);
/* The ms until the next deadline; -1: there is none. */
int http_clients_wait_ms(const struct http_clients *clients, uint64_t now_ms);

/* Has the client gone? For those that wait for the server. */
bool http_client_is_gone(const struct http_peer *client);

/* Count a request. False: the address has too many: 1,000 that are answered in a second, 2,000 at
 * once; 20 and 200 that are refused. */
bool http_clients_count_request(struct http_clients *clients, enum http_rate_kind kind,
				const struct http_peer *client, uint64_t now_ms);

#endif
