/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/http_guard.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* The longest name that DNS has, and an IPv6 address, are shorter. */
#define HOST_MOST 256

static bool is_port(struct text port)
{
	uint32_t number;

	return port.length <= 5 && text_u32(port, &number) && number <= 65535;
}

/* Take "name", "name:port", "[address]" or "[address]:port" apart; the name is without brackets.
 * False: it is none of these. */
static bool split_host(const char *host, char name[HOST_MOST], bool *is_bracketed)
{
	struct text rest = text_of(host);
	const char *end;
	size_t length;

	*is_bracketed = *host == '[';
	if (*is_bracketed)
		rest = text_of(host + 1);
	end = memchr(rest.bytes, *is_bracketed ? ']' : ':', rest.length);
	if (*is_bracketed && !end)
		return false;
	length = end ? (size_t)(end - rest.bytes) : rest.length;
	if (!length || length >= HOST_MOST)
		return false;
	memcpy(name, rest.bytes, length);
	name[length] = '\0';
	end = rest.bytes + length + *is_bracketed;
	return !*end || (*end == ':' && is_port(text_of(end + 1)));
}

static bool is_number(const char *name, bool is_bracketed)
{
	unsigned char address[16];

	return inet_pton(is_bracketed ? AF_INET6 : AF_INET, name, address) == 1;
}

bool http_host_is_own(const char *host)
{
	char name[HOST_MOST];
	bool is_bracketed;

	return split_host(host, name, &is_bracketed) &&
	       (is_number(name, is_bracketed) || (!is_bracketed && !strcasecmp(name, "localhost")));
}

/* "http://host:port" is the origin of pages of this host, as the same request names it. */
static bool is_origin_of(const char *origin, const char *host)
{
	const char *colon = strchr(origin, ':');

	return host && colon && !strncmp(colon, "://", 3) && !strcasecmp(colon + 3, host);
}

bool http_source_is_own(const struct http_source *source, bool may_navigate)
{
	if (source->site) {
		if (!strcmp(source->site, "same-origin") || !strcmp(source->site, "none"))
			return true;
		return may_navigate && source->mode && !strcmp(source->mode, "navigate");
	}
	return !source->origin || is_origin_of(source->origin, source->host);
}

bool http_token_equals(const char *given, const char *token)
{
	const size_t length = strlen(given), wanted = strlen(token);
	volatile unsigned char differ = length != wanted;

	/* As many steps as the stranger's string has bytes. */
	for (size_t i = 0; i < length; i++)
		differ |= (unsigned char)given[i] ^ (unsigned char)token[wanted ? i % wanted : 0];
	return !differ;
}

const char *http_bearer_token(const char *authorization)
{
	if (!authorization || strncasecmp(authorization, "Bearer ", 7))
		return NULL;
	authorization += 7;
	return authorization + strspn(authorization, " ");
}
