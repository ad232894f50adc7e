/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the server listens: "127.0.0.1:7070", "[::1]:7070", ":7070" (all addresses), "7070" (the
 * loopback address), or "unix:PATH".
 */
#ifndef SERVE_LISTEN_H
#define SERVE_LISTEN_H

#include <netinet/in.h>
#include <stdbool.h>

#include "base/error.h"

#define LISTEN_DEFAULT "127.0.0.1:7070"

/* Of a host name (HOST_NAME_MAX) or "[0123:...]", and a port. */
#define LISTEN_TEXT_MAX 72

struct listen_address {
	const char *path; /* of a Unix socket; NULL: an address of IP */
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} ip;
	bool is_loopback; /* only programs on this host reach it; also true of a Unix socket */
};

/* `path` of the result points into `text`. */
struct error *listen_parse(const char *text, struct listen_address *ret) MUST_CHECK;

/* A listening socket, with the rights of the caller, and the address as it is in a URL
 * ("127.0.0.1:40123": port 0 becomes a free one, and all addresses the one by which this host
 * reaches others, or its name), or "" of a Unix socket. A Unix socket that
 * nothing listens at any more is replaced; it is made for its owner alone, who with sudo is the
 * user of sudo where that user may write (base/handover.h). */
struct error *listen_open(const struct listen_address *address, char ret_text[LISTEN_TEXT_MAX],
			  int *ret_fd) MUST_CHECK;

#endif
