/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/handover.h"
#include "base/text.h"

/* Connections that are not accepted yet; many come at once when clients misuse the server. */
#define BACKLOG 1024

/* --- parsing --- */

static bool parse_port(const char *text, in_port_t *ret)
{
	uint32_t port;

	if (!text_u32(text_of(text), &port) || port > 65535)
		return false;
	*ret = htons((uint16_t)port);
	return true;
}

static bool is_loopback_v4(const struct in_addr *address)
{
	return ntohl(address->s_addr) >> 24 == IN_LOOPBACKNET;
}

/* "[ADDRESS]" of IPv6, an address of IPv4, "localhost", or "" for all of IPv4. */
static bool parse_host(const char *host, in_port_t port, struct listen_address *ret)
{
	const size_t length = strlen(host);
	char inner[INET6_ADDRSTRLEN];

	if (*host == '[') {
		struct sockaddr_in6 *v6 = &ret->ip.v6;

		if (length < 2 || host[length - 1] != ']' || length - 2 >= sizeof(inner))
			return false;
		memcpy(inner, host + 1, length - 2);
		inner[length - 2] = 0;
		*v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = port };
		if (inet_pton(AF_INET6, inner, &v6->sin6_addr) != 1)
			return false;
		ret->is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
		return true;
	}
	ret->ip.v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port };
	if (strcmp(host, "localhost") == 0)
		ret->ip.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else if (*host && inet_pton(AF_INET, host, &ret->ip.v4.sin_addr) != 1)
		return false;
	ret->is_loopback = is_loopback_v4(&ret->ip.v4.sin_addr);
	return true;
}

struct error *listen_parse(const char *text, struct listen_address *ret)
{
	const char *colon = strrchr(text, ':');
	char host[LISTEN_TEXT_MAX];
	in_port_t port;

	*ret = (struct listen_address){ 0 };
	if (strncmp(text, "unix:", 5) == 0) {
		ret->path = text + 5;
		ret->is_loopback = true;
		if (!*ret->path || strlen(ret->path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
			return error_create("a path of 1 to %zu bytes follows unix:",
					    sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
		return NULL;
	}
	if (!colon && parse_port(text, &port) && parse_host("localhost", port, ret))
		return NULL;
	if (colon && (size_t)(colon - text) < sizeof(host) && parse_port(colon + 1, &port)) {
		memcpy(host, text, (size_t)(colon - text));
		host[colon - text] = 0;
		if (parse_host(host, port, ret))
			return NULL;
	}
	return error_create("'%.60s' is no address: expected IP-ADDRESS:PORT, PORT or unix:PATH",
			    text);
}

/* --- listening --- */

/* Is the file a socket that nothing listens at? Another program's is left alone. */
static bool is_abandoned(const struct sockaddr_un *address)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	return fd >= 0 && lstat(address->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	       connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	       errno == ECONNREFUSED;
}

static int bind_path(int fd, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const mode_t before = umask(0177);
	int failed;

	memcpy(address.sun_path, path, strlen(path));
	failed = handover_bind(fd, &address) ? errno : 0;
	if (failed == EADDRINUSE && is_abandoned(&address) && unlink(path) == 0)
		failed = handover_bind(fd, &address) ? errno : 0;
	umask(before);
	return failed;
}

static socklen_t length_of(const struct listen_address *address)
{
	return address->ip.any.sa_family == AF_INET6 ? sizeof(address->ip.v6)
						     : sizeof(address->ip.v4);
}

static int bind_ip(int fd, const struct listen_address *address)
{
	const int yes = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	return bind(fd, &address->ip.any, length_of(address)) ? errno : 0;
}

static bool is_any(const struct listen_address *address)
{
	return address->ip.any.sa_family == AF_INET6
		       ? IN6_IS_ADDR_UNSPECIFIED(&address->ip.v6.sin6_addr)
		       : address->ip.v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

/* Find the local address that the kernel uses to reach `far`. False: there is no route. Connecting
 * a datagram socket sends nothing. */
static bool find_near(const char *far, in_port_t port, struct listen_address *ret)
{
	struct listen_address near;
	_cleanup_close_ int fd = -1;
	socklen_t length = sizeof(near.ip);

	if (!parse_host(far, port, &near))
		return false;
	fd = socket(near.ip.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, &near.ip.any, length_of(&near)) ||
	    getsockname(fd, &near.ip.any, &length))
		return false;
	*ret = near;
	return true;
}

/* Find an address by which other hosts reach a server that listens at all addresses. The addresses
 * in use here are reserved for documentation (RFC 5737, RFC 3849), so they are behind the default
 * route. */
static bool find_reachable(const struct listen_address *all, struct listen_address *ret)
{
	const bool is_v6 = all->ip.any.sa_family == AF_INET6;
	const in_port_t port = is_v6 ? all->ip.v6.sin6_port : all->ip.v4.sin_port;

	return find_near("192.0.2.1", port, ret) ||
	       (is_v6 && find_near("[2001:db8::1]", port, ret));
}

static void print_address(const struct listen_address *address, in_port_t port,
			  char ret[LISTEN_TEXT_MAX])
{
	char host[INET6_ADDRSTRLEN];

	if (address->ip.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &address->ip.v6.sin6_addr, host, sizeof(host));
		snprintf(ret, LISTEN_TEXT_MAX, "[%s]:%u", host, ntohs(port));
	} else {
		inet_ntop(AF_INET, &address->ip.v4.sin_addr, host, sizeof(host));
		snprintf(ret, LISTEN_TEXT_MAX, "%s:%u", host, ntohs(port));
	}
}

/* The address that the socket got, as a URL has it. */
static int name_socket(int fd, char ret[LISTEN_TEXT_MAX])
{
	struct listen_address bound, reachable;
	socklen_t length = sizeof(bound.ip);
	char host[HOST_NAME_MAX + 1] = "";
	in_port_t port;

	if (getsockname(fd, &bound.ip.any, &length))
		return errno;
	port = bound.ip.any.sa_family == AF_INET6 ? bound.ip.v6.sin6_port : bound.ip.v4.sin_port;
	if (!is_any(&bound))
		print_address(&bound, port, ret);
	else if (find_reachable(&bound, &reachable))
		print_address(&reachable, port, ret);
	else if (!gethostname(host, sizeof(host)) && *host)
		snprintf(ret, LISTEN_TEXT_MAX, "%.*s:%u", HOST_NAME_MAX, host, ntohs(port));
	else
		print_address(&bound, port, ret);
	return 0;
}

struct error *listen_open(const struct listen_address *address, char ret_text[LISTEN_TEXT_MAX],
			  int *ret_fd)
{
	const int family = address->path ? AF_UNIX : address->ip.any.sa_family;
	_cleanup_close_ int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int failed = fd < 0 ? errno : 0;

	if (!failed)
		failed = address->path ? bind_path(fd, address->path) : bind_ip(fd, address);
	if (!failed && listen(fd, BACKLOG))
		failed = errno;
	*ret_text = 0;
	if (!failed && !address->path)
		failed = name_socket(fd, ret_text);
	if (failed)
		return error_system(failed, "cannot listen");
	*ret_fd = take_fd(fd);
	return NULL;
}
