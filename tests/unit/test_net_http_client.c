/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/http_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/units.h"
#include "unit/unit.h"

/* --- a server that answers by the path --- */

/* What is sent for a path, and then the connection is closed, but for "kept". */
static const struct {
	const char *path, *answer;
} answers[] = {
	{ "/refuse",
	  "HTTP/1.1 400 Bad\r\nContent-Length: 27\r\n\r\n\n  bad \x1b[31m\xff row\nnext line" },
	{ "/later",
	  "HTTP/1.1 429 Later\r\nRetry-After: 7\r\nDATE: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
	  "Connection: close\r\nContent-Length: "
	  "0\r\n\r\n" },
	{ "/moved",
	  "HTTP/1.1 302 Moved\r\nDate: next week\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n" },
	{ "/far",
	  "HTTP/1.1 200 OK\r\nDate: Fri, 31 Dec 9999 23:59:59 GMT\r\nContent-Length: 0\r\n\r\n" },
	{ "/garbage", "\x01\x02\x03\x04 no HTTP at all\r\n\r\n" },
	{ "/cut", "" },
	{ "/short", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this" },
	{ "/kept", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkept" },
};

static void send_text(int to, const char *text, size_t length)
{
	(void)!send(to, text, length, MSG_NOSIGNAL);
}

/* More than any client takes. */
static void send_endless(int to, const char *start, const char *piece)
{
	send_text(to, start, strlen(start));
	while (send(to, piece, strlen(piece), MSG_NOSIGNAL) > 0)
		;
}

/* The request with its body. False: the client has closed. */
static bool receive(int from, char *request, size_t room)
{
	size_t used = 0;

	for (;;) {
		const ssize_t got = recv(from, request + used, room - 1 - used, 0);
		const char *end, *length;

		if (got <= 0)
			return false;
		used += (size_t)got;
		request[used] = '\0';
		end = strstr(request, "\r\n\r\n");
		length = strcasestr(request, "Content-Length: ");
		if (end && used >= (size_t)(end + 4 - request) +
					   (length ? strtoul(length + 16, NULL, 10) : 0))
			return true;
	}
}

static void send_echo(int to, const char *request)
{
	char answer[8192];
	const int length = snprintf(answer, sizeof(answer),
				    "HTTP/1.1 200 OK\r\nConnection: close\r\n"
				    "Content-Length: %zu\r\n\r\n%s",
				    strlen(request), request);

	send_text(to, answer, (size_t)length);
}

/* Returns whether the connection stays. */
static bool answer(int to, const char *request)
{
	const char *path = strchr(request, ' ') + 1;
	const size_t length = strcspn(path, " ?");

	for (size_t i = 0; i < array_length(answers); i++)
		if (strlen(answers[i].path) == length && !strncmp(path, answers[i].path, length)) {
			send_text(to, answers[i].answer, strlen(answers[i].answer));
			return !strncmp(path, "/kept", 5);
		}
	if (!strncmp(path, "/endless", 8))
		send_endless(to, "HTTP/1.1 200 OK\r\n\r\n", "more and more");
	else if (!strncmp(path, "/wordy", 6))
		send_endless(to, "HTTP/1.1 500 Error\r\n\r\n", "words ");
	else if (!strncmp(path, "/headers", 8))
		send_endless(to, "HTTP/1.1 200 OK\r\n", "X-More: and more\r\n");
	else if (!strncmp(path, "/silent", 7))
		pause();
	else
		send_echo(to, request);
	return false;
}

static void serve(int listening)
{
	char request[8192];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		const int connection = accept(listening, NULL, NULL);

		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			/* The second request on a connection gets no answer. */
			if (receive(connection, request, sizeof(request)) &&
			    answer(connection, request))
				receive(connection, request, sizeof(request));
			_exit(0);
		}
		close(connection);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

struct scene {
	pid_t server;
	char url[64];
	struct http_client *client;
	char got[8192];
	size_t got_length;
};

static void open_scene(struct scene *scene, struct http_client_options options)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	const int listening = socket(AF_INET, SOCK_STREAM, 0);
	struct error *err;

	*scene = (struct scene){ 0 };
	assert_int_equal(bind(listening, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(listening, 8), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &length), 0);
	snprintf(scene->url, sizeof(scene->url), "http://127.0.0.1:%u", ntohs(address.sin_port));
	scene->server = fork();
	if (!scene->server)
		serve(listening);
	close(listening);
	err = http_client_open(&options, &scene->client);
	/* Emulated programs have no libraries of their machine. */
	if (err && strstr(err->message, "cannot load libcurl")) {
		error_destroy(err);
		kill(scene->server, SIGKILL);
		skip();
	}
	expect_ok(err);
}

static void close_scene(struct scene *scene)
{
	http_client_close(scene->client);
	kill(scene->server, SIGKILL);
	waitpid(scene->server, NULL, 0);
}

static struct error *take(void *context, struct text piece)
{
	struct scene *scene = context;

	assert_true(piece.length < sizeof(scene->got) - scene->got_length);
	memcpy(scene->got + scene->got_length, piece.bytes, piece.length);
	scene->got_length += piece.length;
	scene->got[scene->got_length] = '\0';
	return NULL;
}

static struct error *send_to(struct scene *scene, const char *path, struct http_request request,
			     struct http_answer *ret)
{
	char url[128];

	snprintf(url, sizeof(url), "%s%s", scene->url, path);
	request.url = url;
	request.take = request.take ? request.take : take;
	request.context = scene;
	scene->got_length = 0;
	scene->got[0] = '\0';
	return http_client_send(scene->client, &request, ret);
}

static struct error *get(struct scene *scene, const char *path, struct http_answer *ret)
{
	return send_to(scene, path, (struct http_request){ .body_fd = -1 }, ret);
}

static int file_of(const char *bytes)
{
	const int fd = memfd_create("file", MFD_CLOEXEC);

	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	return fd;
}

/* --- tests --- */

TEST(sends_and_takes)
{
	static const char *const headers[] = { "X-One: 1", "Content-Type: text/x" };
	const int file = file_of("HEAD the body");
	struct http_answer got;
	struct scene scene;

	open_scene(&scene, (struct http_client_options){ 0 });
	expect_ok(get(&scene, "/ok?a=b", &got));
	assert_int_equal(got.status, 200);
	assert_ptr_equal(strstr(scene.got, "GET /ok?a=b HTTP/1.1\r\n"), scene.got);
	assert_string_equal(got.said, "");
	expect_ok(send_to(&scene, "/ok",
			  (struct http_request){ .body_fd = -1,
						 .body = TEXT("inline"),
						 .headers = headers,
						 .header_count = 2 },
			  &got));
	assert_int_equal(got.sent_bytes, 6);
	assert_ptr_equal(strstr(scene.got, "POST /ok HTTP/1.1\r\n"), scene.got);
	assert_non_null(strstr(scene.got, "X-One: 1\r\n"));
	assert_non_null(strstr(scene.got, "Content-Type: text/x\r\n"));
	assert_non_null(strstr(scene.got, "\r\n\r\ninline"));
	expect_ok(send_to(&scene, "/ok", (struct http_request){ .body_fd = file, .body_from = 5 },
			  &got));
	assert_non_null(strstr(scene.got, "\r\n\r\nthe body"));
	assert_int_equal(got.sent_bytes, 8);
	close(file);
	close_scene(&scene);
}

TEST(tells_what_servers_say)
{
	struct http_answer got;
	struct scene scene;

	open_scene(&scene, (struct http_client_options){ 0 });
	expect_ok(get(&scene, "/refuse", &got));
	assert_int_equal(got.status, 400);
	assert_string_equal(got.said, "bad ?[31m\xef\xbf\xbd row");
	assert_string_equal(scene.got, "");
	expect_ok(get(&scene, "/later", &got));
	assert_int_equal(got.status, 429);
	assert_int_equal(got.retry_after_ns, 7 * NS_PER_S);
	assert_int_equal(got.date, 784111777);
	expect_ok(get(&scene, "/moved", &got));
	assert_int_equal(got.status, 302);
	assert_int_equal(got.date, 0);
	expect_ok(get(&scene, "/wordy", &got));
	assert_int_equal(got.status, 500);
	assert_int_equal(strlen(got.said), sizeof(got.said) - 1);
	close_scene(&scene);
}

/* A server's clock is known to a second and to the time of a request. */
TEST(compares_clocks)
{
	const uint64_t now = 1790000000;
	struct http_answer got;
	struct scene scene;

	assert_int_equal(http_clock_ahead(now, now, now), 0);
	assert_int_equal(http_clock_ahead(now + 90, now, now), 90);
	assert_int_equal(http_clock_ahead(now - 90, now, now), -89);
	assert_int_equal(http_clock_ahead(now - 1, now, now), 0);
	/* A slow server writes the date at any time of the request. */
	assert_int_equal(http_clock_ahead(now, now, now + 300), 0);
	assert_int_equal(http_clock_ahead(now + 300, now, now + 300), 0);
	assert_int_equal(http_clock_ahead(now + 390, now, now + 300), 90);
	assert_int_equal(http_clock_ahead(now - 91, now, now + 300), -90);
	/* The clock of this host is set. */
	assert_int_equal(http_clock_ahead(now + 100, now + 300, now), 0);
	assert_int_equal(http_clock_ahead(now + 390, now + 300, now), 90);
	/* Whatever a server says. */
	assert_int_equal(http_clock_ahead(UINT64_MAX, 0, 0), INT64_MAX);
	assert_int_equal(http_clock_ahead(0, UINT64_MAX, UINT64_MAX), -INT64_MAX);
	open_scene(&scene, (struct http_client_options){ 0 });
	expect_ok(get(&scene, "/later", &got));
	assert_true(got.ahead_s < -INT64_C(900000000));
	expect_ok(get(&scene, "/far", &got));
	assert_true(got.ahead_s > INT64_C(200000000000));
	expect_ok(get(&scene, "/moved", &got));
	assert_int_equal(got.ahead_s, 0);
	close_scene(&scene);
}

TEST(bounds_answers)
{
	struct http_answer got;
	struct scene scene;

	open_scene(&scene, (struct http_client_options){ .stalled_ns = NS_PER_S });
	expect_error(send_to(&scene, "/endless",
			     (struct http_request){ .body_fd = -1, .answer_most = 1000 }, &got),
		     "the answer is longer than 1000 bytes");
	expect_error(get(&scene, "/headers", &got), "header");
	expect_error(get(&scene, "/garbage", &got), "");
	expect_error(get(&scene, "/cut", &got), "");
	expect_error(get(&scene, "/short", &got), "");
	expect_error(get(&scene, "/silent", &got), "");
	close_scene(&scene);
}

static struct error *refuse(void *context, struct text piece)
{
	(void)context;
	return error_create("refused %zu", piece.length);
}

TEST(returns_the_error_of_the_taker)
{
	struct http_answer got;
	struct scene scene;

	open_scene(&scene, (struct http_client_options){ 0 });
	expect_error(send_to(&scene, "/kept",
			     (struct http_request){ .body_fd = -1, .take = refuse }, &got),
		     "refused 4");
	close_scene(&scene);
}

/* A connection that was used before ends without an answer: only what may be sent twice is. */
TEST(sends_files_once)
{
	const int file = file_of("once");
	struct http_answer got;
	struct scene scene;

	open_scene(&scene, (struct http_client_options){ 0 });
	expect_ok(get(&scene, "/kept", &got));
	expect_error(send_to(&scene, "/ok", (struct http_request){ .body_fd = file }, &got),
		     "the server ended the connection without an answer");
	expect_ok(get(&scene, "/kept", &got));
	expect_ok(send_to(&scene, "/ok",
			  (struct http_request){ .body_fd = -1, .body = TEXT("twice") }, &got));
	assert_int_equal(got.status, 200);
	close(file);
	close_scene(&scene);
}

static int code_of(struct error *err)
{
	const int code = err ? err->errnum : 0;

	error_destroy(err);
	return code;
}

TEST(tells_what_was_not_sent)
{
	struct http_answer got;
	struct scene scene;

	open_scene(&scene, (struct http_client_options){ .stalled_ns = NS_PER_S });
	assert_int_equal(code_of(get(&scene, "/silent", &got)), ETIMEDOUT);
	assert_int_not_equal(code_of(get(&scene, "/cut", &got)), ENOTCONN);
	/* No server listens there. */
	snprintf(scene.url, sizeof(scene.url), "http://127.0.0.1:1");
	assert_int_equal(code_of(get(&scene, "/", &got)), ENOTCONN);
	snprintf(scene.url, sizeof(scene.url), "file:///etc");
	expect_error(get(&scene, "/passwd", &got), "");
	snprintf(scene.url, sizeof(scene.url), "http://me:secret@127.0.0.1:1");
	expect_error(get(&scene, "/", &got), "belong into a netrc file");
	close_scene(&scene);
}

TEST(reads_passwords_from_a_file)
{
	const int file = file_of("machine 127.0.0.1 login me password secret\n");
	struct http_client *client;
	struct http_answer got;
	struct scene scene;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	open_scene(&scene, (struct http_client_options){ .netrc = path });
	expect_ok(get(&scene, "/ok", &got));
	assert_non_null(strstr(scene.got, "Authorization: Basic bWU6c2VjcmV0\r\n"));
	close_scene(&scene);
	close(file);
	expect_error(http_client_open(&(struct http_client_options){ .netrc = "/none" }, &client),
		     "/none: No such file");
}

TEST(refuses_headers_of_more_lines)
{
	static const char *const headers[] = { "X-One: 1\r\nX-Two: 2" };
	struct http_answer got;
	struct scene scene;

	open_scene(&scene, (struct http_client_options){ 0 });
	expect_error(send_to(&scene, "/ok",
			     (struct http_request){
				     .body_fd = -1, .headers = headers, .header_count = 1 },
			     &got),
		     "more than one line");
	close_scene(&scene);
}

UNIT_TESTS(cmocka_unit_test(sends_and_takes), cmocka_unit_test(tells_what_servers_say),
	   cmocka_unit_test(compares_clocks), cmocka_unit_test(bounds_answers),
	   cmocka_unit_test(returns_the_error_of_the_taker), cmocka_unit_test(sends_files_once),
	   cmocka_unit_test(tells_what_was_not_sent), cmocka_unit_test(reads_passwords_from_a_file),
	   cmocka_unit_test(refuses_headers_of_more_lines))
