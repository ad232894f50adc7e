/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/http_scene.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "security/server_sandbox.h"

static struct error *write_string(struct http_exchange *exchange, const char *string)
{
	http_type(exchange, "text/plain");
	return http_write(exchange, string, strlen(string));
}

static struct error *hello(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	((struct http_scene *)context)->handled++;
	*ret = HTTP_DONE;
	return write_string(exchange, "hello");
}

static struct error *echo(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	const char *value = http_query(exchange, "q");

	(void)context;
	*ret = HTTP_DONE;
	return write_string(exchange, value ? value : "(none)");
}

static struct error *files(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	(void)context;
	*ret = HTTP_DONE;
	return write_string(exchange, http_rest(exchange));
}

static struct error *large(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	(void)context;
	*ret = HTTP_DONE;
	for (int i = 0; i < 10000; i++)
		expect_ok(write_string(exchange, "0123456789"));
	return NULL;
}

/* Counts its calls in what it keeps. */
static int count_calls(struct http_exchange *exchange, struct http_scene *scene);

struct calls {
	struct http_scene *scene;
	int count;
};

static void destroy_calls(void *kept)
{
	((struct calls *)kept)->scene->destroyed++;
	free(kept);
}

static int count_calls(struct http_exchange *exchange, struct http_scene *scene)
{
	struct calls *calls = http_kept(exchange);

	if (!calls) {
		calls = calloc(1, sizeof(*calls));
		assert_non_null(calls);
		calls->scene = scene;
		http_keep(exchange, calls, destroy_calls);
	}
	scene->handled++;
	return ++calls->count;
}

static struct error *later(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	*ret = HTTP_LATER;
	if (count_calls(exchange, context) < 3)
		return NULL;
	*ret = HTTP_DONE;
	return write_string(exchange, "now");
}

static struct error *stream(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	const int call = count_calls(exchange, context);
	char line[32];

	*ret = call < 4 ? HTTP_MORE : HTTP_DONE;
	if (call == 1)
		return NULL;
	snprintf(line, sizeof(line), "event %d\n", call - 1);
	return write_string(exchange, line);
}

static struct error *pieces(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	const int call = count_calls(exchange, context);

	*ret = call < 5 ? HTTP_AGAIN : HTTP_DONE;
	return write_string(exchange, "piece\n");
}

static struct error *fail_with(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	(void)context;
	expect_ok(write_string(exchange, "something else"));
	*ret = HTTP_DONE;
	return *http_query(exchange, "errno")
		       ? error_coded(atoi(http_query(exchange, "errno")), "a reason")
		       : error_create("a reason");
}

static struct error *size(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	char length[32];

	((struct http_scene *)context)->handled++;
	snprintf(length, sizeof(length), "%zu", http_body(exchange).length);
	*ret = HTTP_DONE;
	return write_string(exchange, length);
}

/* --- bodies that are not kept --- */

static struct error *begin_counting(struct http_exchange *exchange, void *context, uint64_t length)
{
	struct http_scene *scene = context;

	scene->announced = length;
	scene->uploaded = 0;
	if (!http_query(exchange, "errno"))
		return NULL;
	return error_coded(atoi(http_query(exchange, "errno")), "a reason");
}

static struct error *count(struct http_exchange *exchange, void *context, struct text piece)
{
	struct http_scene *scene = context;

	(void)exchange;
	scene->uploaded += piece.length;
	return memchr(piece.bytes, '!', piece.length) ? error_create("enough") : NULL;
}

static const struct http_upload counting = { begin_counting, count };

static struct error *uploaded(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	const struct http_scene *scene = context;

	assert_int_equal(http_body(exchange).length, 0);
	assert_int_equal(scene->uploaded, scene->announced);
	*ret = HTTP_DONE;
	return write_string(exchange, "taken");
}

static const struct http_route routes[] = {
	{ "GET", "/hello", hello, 0, false, NULL, NULL },
	{ "GET", "/echo", echo, 0, false, "a q", NULL },
	{ "GET", "/files/*", files, 0, false, NULL, NULL },
	{ "GET", "/large", large, 0, false, NULL, NULL },
	{ "GET", "/later", later, 0, false, NULL, NULL },
	{ "GET", "/stream", stream, 0, false, NULL, NULL },
	{ "GET", "/fails", fail_with, 0, false, "errno", NULL },
	{ "POST", "/size", size, 100000, false, NULL, NULL },
	{ "POST", "/upload", uploaded, 100000, false, "errno", &counting },
	{ "GET", "/pieces", pieces, 0, false, NULL, NULL },
	{ "GET", "/open", hello, 0, true, NULL, NULL },
};

static int listen_on_loopback(int *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(fd, 128), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

static struct error *open_server(struct http_scene *scene, int listen_fd, const char *token)
{
	const struct http_options options = {
		.listen_fd = listen_fd,
		.token = token,
		.clients_most = 16,
	};

	return http_open(&options, routes, array_length(routes), scene, &scene->server);
}

void http_scene_open(struct http_scene *scene, const char *token)
{
	int listen_fd;

	*scene = (struct http_scene){ 0 };
	listen_fd = listen_on_loopback(&scene->port);
	expect_ok(open_server(scene, listen_fd, token));
}

/* Serve until the other end of the pipe is closed. */
static struct error *serve_confined(struct http_scene *scene, int listen_fd, int end)
{
	struct pollfd fds[] = { { .fd = end }, { .events = POLLIN } };
	int kept[] = { listen_fd, end };
	struct error *err = server_sandbox_enter(SERVER_ANSWERS, kept, array_length(kept));

	if (!err)
		err = open_server(scene, listen_fd, NULL);
	while (!err && !fds[0].revents) {
		fds[1].fd = http_fd(scene->server);
		poll(fds, array_length(fds), http_timeout_ms(scene->server));
		err = http_serve(scene->server);
	}
	http_close(scene->server);
	return err;
}

void http_scene_open_confined(struct http_scene *scene)
{
	int listen_fd, pipe_fds[2];

	*scene = (struct http_scene){ 0 };
	listen_fd = listen_on_loopback(&scene->port);
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	scene->process = fork();
	if (!scene->process) {
		close(pipe_fds[1]);
		/* The sanitizer looks for leaks at other ends, by calls that are refused. */
		syscall(SYS_exit_group, serve_confined(scene, listen_fd, pipe_fds[0]) != NULL);
	}
	assert_true(scene->process > 0);
	close(listen_fd);
	close(pipe_fds[0]);
	scene->end = pipe_fds[1];
}

void http_scene_close(struct http_scene *scene)
{
	int status;

	http_close(scene->server);
	if (!scene->process)
		return;
	close(scene->end);
	assert_int_equal(waitpid(scene->process, &status, 0), scene->process);
	assert_int_equal(status, 0);
}

int http_client(const struct http_scene *scene)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				       .sin_port = htons((uint16_t)scene->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

void http_send(int client, const char *bytes)
{
	const size_t length = strlen(bytes);

	assert_int_equal(send(client, bytes, length, MSG_NOSIGNAL), length);
}

void http_run(struct http_scene *scene)
{
	const int timeout = scene->server ? http_timeout_ms(scene->server) : -1;
	struct pollfd server = { .fd = -1, .events = POLLIN };

	if (scene->server)
		server.fd = http_fd(scene->server);
	poll(&server, 1, timeout >= 0 && timeout < 5 ? timeout : 5);
	if (scene->server)
		expect_ok(http_serve(scene->server));
}

char *http_receive(struct http_scene *scene, int client)
{
	struct {
		ARRAY(char);
	} got = { 0 };

	/* Another process may not run for long on a busy host. */
	for (int silent = 0; silent < (scene->process && !got.count ? 6000 : 16);) {
		ssize_t length;

		http_run(scene);
		assert_true(array_reserve(&got, 4096));
		length = recv(client, got.items + got.count, 4095, MSG_DONTWAIT);
		if (length > 0)
			got.count += (size_t)length;
		if (!length || (length < 0 && errno == ECONNRESET))
			break;
		silent = length > 0 ? 0 : silent + 1;
	}
	assert_true(array_push(&got, '\0'));
	return got.items;
}

char *http_ask(struct http_scene *scene, const char *request)
{
	int client = http_client(scene);
	char *answer, head[256];

	snprintf(head, sizeof(head), "Host: 127.0.0.1:%d\r\n\r\n", scene->port);
	http_send(client, request);
	http_send(client, head);
	answer = http_receive(scene, client);
	close(client);
	return answer;
}
