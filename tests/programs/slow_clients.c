/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slow_clients PORT COUNT HOW: open COUNT connections to a port of 127.0.0.1, misuse them, and
 * print "ready" once all are there. A connection that the server closes is opened again. Ends when
 * standard input does.
 *
 *	silent   sends nothing
 *	head     a head without its end
 *	drip     a head, one byte every 100 ms
 *	body     announces a body and sends a tenth of it
 *	unread   asks for PATH (after HOW) again and again, and reads nothing
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static char unread[512];

static const struct way {
	const char *name, *bytes;
	bool drips, repeats;
} ways[] = {
	{ "silent", "", false, false },
	{ "head", "GET /api/about HTTP/1.1\r\nHost: localhost\r\nX-Rest: ", false, false },
	{ "drip",
	  "GET /api/about HTTP/1.1\r\nHost: localhost\r\nX-Long: "
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	  "a",
	  true, false },
	{ "body",
	  "GET /api/about HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n0123456789",
	  false, false },
	{ "unread", unread, false, true },
};

static struct sockaddr_in server = { .sin_family = AF_INET };
static const struct way *way;

struct client {
	int fd;
	size_t sent;
};

static void open_client(struct client *client)
{
	const int small = 4096;

	client->sent = 0;
	client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->fd < 0)
		err(1, "socket");
	setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	if (connect(client->fd, (struct sockaddr *)&server, sizeof(server)) < 0)
		err(1, "connect");
}

static bool is_closed(const struct client *client)
{
	struct pollfd fd = { .fd = client->fd, .events = POLLRDHUP };

	return poll(&fd, 1, 0) > 0 && fd.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

static void misuse(struct client *client)
{
	const size_t length = strlen(way->bytes);

	if (is_closed(client)) {
		close(client->fd);
		open_client(client);
	}
	if (client->sent == length && way->repeats)
		client->sent = 0;
	while (client->sent < length) {
		ssize_t sent =
			send(client->fd, way->bytes + client->sent,
			     way->drips ? 1 : length - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent > 0)
			client->sent += (size_t)sent;
		if (sent <= 0 || way->drips)
			return;
	}
}

static const struct way *find_way(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(ways[i].name, name))
			return &ways[i];
	errx(2, "no way '%s'", name);
}

int main(int argc, char **argv)
{
	const unsigned count = argc > 3 ? (unsigned)atoi(argv[2]) : 0;
	const struct rlimit many = { 65536, 65536 };
	struct client *clients = calloc(count, sizeof(*clients));

	if (!count || !clients)
		errx(2, "usage: slow_clients PORT COUNT HOW [PATH]");
	setrlimit(RLIMIT_NOFILE, &many);
	way = find_way(argv[3]);
	if (argc > 4)
		snprintf(unread, sizeof(unread), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
			 argv[4]);
	server.sin_port = htons((uint16_t)atoi(argv[1]));
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (unsigned i = 0; i < count; i++) {
		open_client(&clients[i]);
		misuse(&clients[i]);
	}
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		usleep(100000);
		for (unsigned i = 0; i < count; i++)
			misuse(&clients[i]);
	}
}
