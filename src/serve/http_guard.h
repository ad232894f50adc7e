/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which requests the server answers: those whose origin may see what it shows.
 *
 * Browsers let any page of the web send requests to any address, and keep the answer from that page
 * unless the server allows it, or the page and the server have the same origin. The latter can be
 * pretended: a page changes the address of its own name to that of this host (DNS rebinding). The
 * name in Host is then still that of the page. So a server without a token answers only if Host is
 * an IP address or localhost, which no page can pretend. The port is not compared, since `ssh -L`
 * changes it. With a token, Host may be any name: such a page does not know the token.
 */
#ifndef SERVE_HTTP_GUARD_H
#define SERVE_HTTP_GUARD_H

#include <stdbool.h>

/* Is the header Host an IP address or localhost, with or without a port? */
bool http_host_is_own(const char *host);

/* What a browser says about where a request comes from; NULL: a header that it has not sent. */
struct http_source {
	const char *host, *origin, *site, *mode; /* Host, Origin, Sec-Fetch-Site, Sec-Fetch-Mode */
};

/*
 * Does the request come from a page of this server, from the user, or from no browser? A browser
 * sends Sec-Fetch-Site to trustworthy hosts, and Origin with what is no plain GET. With
 * `may_navigate`, following a link of another page is fine, too (for the page itself).
 */
bool http_source_is_own(const struct http_source *source, bool may_navigate);

/* Is this the token? Takes as long wherever they differ. */
bool http_token_equals(const char *given, const char *token);

/* The token of "Bearer TOKEN" (RFC 6750); NULL: the header, which may be NULL, has none. */
const char *http_bearer_token(const char *authorization);

#endif
