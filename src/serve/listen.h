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

/* Room for a host name (HOST_NAME_MAX) or an IPv6 address in brackets, and a port. */
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

/*
 * Open a listening socket, with the rights of the caller.
 *
 * `ret_text` is the address for a URL, as "127.0.0.1:40123", or "" for a Unix socket. If the port
 * is 0, the kernel chooses a free one. For all addresses, it is the address by which this host
 * reaches others, or else the host's name.
 *
 * A Unix socket that no process listens at is replaced. Only its owner may connect: under sudo this
 * is the user of sudo, if that user may write to the directory (base/handover.h).
 */
struct error *listen_open(const struct listen_address *address, char ret_text[LISTEN_TEXT_MAX],
			  int *ret_fd) MUST_CHECK;

#endif
