/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/http_scene.h"

/* The request of one line, its status, and what the answer has. */
static void expect_answer(struct http_scene *scene, const char *request, int status,
			  const char *holds)
{
	_cleanup_free_ char *answer = http_ask(scene, request);
	char line[32];

	snprintf(line, sizeof(line), "HTTP/1.1 %d ", status);
	if (strncmp(answer, line, strlen(line)) || !strstr(answer, holds))
		fail_msg("%s: expected %s...%s, got %s", request, line, holds, answer);
}

static unsigned count_of(const char *text, const char *word)
{
	unsigned count = 0;

	for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
		count++;
	return count;
}

TEST(answers)
{
	struct http_scene scene;

	http_scene_open(&scene, NULL);
	expect_answer(&scene, "GET /hello HTTP/1.1\r\n", 200, "\r\n\r\nhello");
	expect_answer(&scene, "GET /hello HTTP/1.1\r\n", 200, "Content-Type: text/plain\r\n");
	expect_answer(&scene, "GET /hello HTTP/1.1\r\n", 200, "frame-ancestors 'none'\r\n");
	expect_answer(&scene, "GET /echo?a=b&q=1%2b+2 HTTP/1.1\r\n", 200, "\r\n\r\n1+ 2");
	expect_answer(&scene, "GET /echo HTTP/1.1\r\n", 200, "\r\n\r\n(none)");
	expect_answer(&scene, "GET /files/a/b.js HTTP/1.1\r\n", 200, "\r\n\r\na/b.js");
	expect_answer(&scene, "GET /fails?errno= HTTP/1.1\r\n", 500, "\r\n\r\na reason\n");
	expect_answer(&scene, "GET /fails?errno=22 HTTP/1.1\r\n", 400, "\r\n\r\na reason\n");
	expect_answer(&scene, "GET /fails?errno=2 HTTP/1.1\r\n", 404, "\r\n\r\na reason\n");
	expect_answer(&scene, "GET /fails?errno=1 HTTP/1.1\r\n", 403, "\r\n\r\na reason\n");
	expect_answer(&scene, "GET /fails?errno=16 HTTP/1.1\r\n", 503, "\r\n\r\na reason\n");
	expect_answer(&scene, "GET /fails?errno=16 HTTP/1.1\r\n", 503, "Retry-After: ");
	http_scene_close(&scene);
}

TEST(refusals)
{
	struct http_scene scene;

	http_scene_open(&scene, NULL);
	expect_answer(&scene, "GET /nothing HTTP/1.1\r\n", 404, "not found");
	expect_answer(&scene, "POST /hello HTTP/1.1\r\n", 405, "Allow: GET, HEAD\r\n");
	expect_answer(&scene, "GET /size HTTP/1.1\r\n", 405, "Allow: POST\r\n");
	expect_answer(&scene, "BREW /hello HTTP/1.1\r\n", 405, "Allow: GET, HEAD\r\n");
	expect_answer(&scene, "GET /files/../hello HTTP/1.1\r\n", 400, "\r\n\r\n");
	expect_answer(&scene, "GET http://a/hello HTTP/1.1\r\n", 400, "does not begin with /");
	expect_answer(&scene, "GET /hello HTTP/1.1\r\nContent-Length: 1\r\n", 413, "too large");
	expect_answer(&scene, "POST /size HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", 411,
		      "length required");
	assert_int_equal(scene.handled, 0);
	assert_int_equal(http_counts(scene.server).refused, 8);
	http_scene_close(&scene);
}

TEST(parameters)
{
	struct http_scene scene;

	http_scene_open(&scene, NULL);
	expect_answer(&scene, "GET /echo?b=1 HTTP/1.1\r\n", 400,
		      "unknown parameter 'b'; this path has: a q\n");
	expect_answer(&scene, "GET /echo?q=1&Q HTTP/1.1\r\n", 400, "unknown parameter 'Q'");
	expect_answer(&scene, "GET /echo?a%20q=1 HTTP/1.1\r\n", 400, "unknown parameter 'a q'");
	expect_answer(&scene, "GET /hello?q=1 HTTP/1.1\r\n", 400, "'q'; this path has none\n");
	expect_answer(&scene, "GET /hello?=1 HTTP/1.1\r\n", 400, "unknown parameter ''");
	assert_int_equal(scene.handled, 0);
	expect_answer(&scene, "GET /hello?token=x&& HTTP/1.1\r\n", 200, "hello");
	http_scene_close(&scene);
}

/* The request with these headers alone. */
static void expect_status(struct http_scene *scene, const char *request, int status)
{
	_cleanup_free_ char *answer = NULL;
	const int client = http_client(scene);
	char line[32];

	http_send(client, request);
	answer = http_receive(scene, client);
	close(client);
	snprintf(line, sizeof(line), "HTTP/1.1 %d ", status);
	if (strncmp(answer, line, strlen(line)))
		fail_msg("%s: expected %d, got %s", request, status, answer);
}

TEST(hosts_and_origins)
{
	struct http_scene scene;

	http_scene_open(&scene, NULL);
	expect_status(&scene, "GET /hello HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403);
	expect_status(&scene, "GET /open HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403);
	expect_status(&scene, "GET /hello HTTP/1.1\r\nHost: localhost\r\nHost: a\r\n\r\n", 403);
	expect_status(&scene, "GET /hello HTTP/1.0\r\n\r\n", 403);
	expect_status(&scene, "GET /hello HTTP/1.1\r\nHost: [::1]:9\r\n\r\n", 200);
	expect_answer(&scene, "GET /hello HTTP/1.1\r\nOrigin: http://evil.example\r\n", 403,
		      "cross-origin request");
	expect_answer(&scene, "GET /hello HTTP/1.1\r\nSec-Fetch-Site: cross-site\r\n", 403,
		      "cross-origin request");
	expect_answer(&scene,
		      "GET /open HTTP/1.1\r\nSec-Fetch-Site: cross-site\r\n"
		      "Sec-Fetch-Mode: navigate\r\n",
		      200, "hello");
	expect_answer(&scene, "GET /hello HTTP/1.1\r\nSec-Fetch-Site: same-origin\r\n", 200,
		      "hello");
	http_scene_close(&scene);
}

/* A page that lets its name point here does not know the token, and whoever does may use any name.
 */
TEST(hosts_with_a_token)
{
	struct http_scene scene;

	http_scene_open(&scene, "s3cret");
	expect_status(&scene, "GET /hello?token=s3cret HTTP/1.1\r\nHost: web7:7070\r\n\r\n", 200);
	expect_status(&scene,
		      "GET /hello HTTP/1.1\r\nHost: web7.example\r\n"
		      "Authorization: Bearer s3cret\r\n\r\n",
		      200);
	expect_status(&scene, "GET /open HTTP/1.1\r\nHost: web7:7070\r\n\r\n", 200);
	expect_status(&scene, "GET /hello HTTP/1.1\r\nHost: evil.example\r\n\r\n", 401);
	expect_status(&scene, "GET /hello?token=s3cre HTTP/1.1\r\nHost: web7:7070\r\n\r\n", 401);
	expect_status(&scene,
		      "GET /hello?token=s3cret HTTP/1.1\r\nHost: web7\r\nHost: evil\r\n\r\n", 403);
	expect_status(&scene,
		      "GET /hello?token=s3cret HTTP/1.1\r\nHost: web7:7070\r\n"
		      "Origin: http://evil.example\r\n\r\n",
		      403);
	http_scene_close(&scene);
}

TEST(tokens)
{
	struct http_scene scene;

	http_scene_open(&scene, "s3cret");
	expect_answer(&scene, "GET /hello HTTP/1.1\r\n", 401, "WWW-Authenticate: Bearer\r\n");
	expect_answer(&scene, "GET /nothing HTTP/1.1\r\n", 401, "token");
	expect_answer(&scene, "GET /hello?token=s3creT HTTP/1.1\r\n", 401, "token");
	expect_answer(&scene, "GET /hello HTTP/1.1\r\nAuthorization: Bearer no\r\n", 401, "token");
	expect_answer(&scene, "GET /hello?token=s3%63ret HTTP/1.1\r\n", 200, "hello");
	expect_answer(&scene, "GET /hello HTTP/1.1\r\nAuthorization: Bearer s3cret\r\n", 200,
		      "hello");
	expect_answer(&scene, "GET /open HTTP/1.1\r\n", 200, "hello");
	http_scene_close(&scene);
}

/* More clients that wait for data than half of all. */
TEST(lasting)
{
	struct http_scene scene;
	int clients[9];

	http_scene_open(&scene, NULL);
	for (size_t i = 0; i < array_length(clients); i++) {
		char *answer;

		clients[i] = http_client(&scene);
		http_send(clients[i], i % 2 ? "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n"
					    : "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
		answer = http_receive(&scene, clients[i]);
		assert_int_equal(strstr(answer, "HTTP/1.1 503") != NULL, i == 8);
		free(answer);
	}
	expect_answer(&scene, "GET /hello HTTP/1.1\r\n", 200, "hello");
	for (size_t i = 0; i < array_length(clients); i++)
		close(clients[i]);
	http_wake(scene.server);
	for (int i = 0; i < 20; i++)
		http_run(&scene);
	assert_int_equal(http_counts(scene.server).clients, 0);
	expect_answer(&scene, "GET /stream HTTP/1.1\r\n", 200, "chunked");
	http_scene_close(&scene);
}

/* A client that sends its request at once is answered, however many do not. */
TEST(slow_heads)
{
	struct http_scene scene;
	int clients[64];

	http_scene_open(&scene, NULL);
	for (size_t i = 0; i < array_length(clients); i++) {
		clients[i] = http_client(&scene);
		http_send(clients[i], i % 2 ? "GET /hello HTTP/1.1\r\nHost:"
					    : "POST /size HTTP/1.1\r\nHost: localhost\r\n"
					      "Content-Length: 1000\r\n\r\n12345");
		if (i % 3 == 0)
			http_run(&scene);
	}
	for (int i = 0; i < 20; i++)
		http_run(&scene);
	assert_in_range(http_counts(scene.server).clients, 1, 16);
	for (int i = 0; i < 4; i++)
		expect_answer(&scene, "GET /hello HTTP/1.1\r\n", 200, "hello");
	for (size_t i = 0; i < array_length(clients); i++)
		close(clients[i]);
	http_scene_close(&scene);
}

TEST(heads)
{
	struct http_scene scene;
	_cleanup_free_ char *answer = NULL, *stream = NULL;

	http_scene_open(&scene, NULL);
	answer = http_ask(&scene, "HEAD /hello HTTP/1.1\r\n");
	assert_non_null(strstr(answer, "Content-Length: 5\r\n"));
	assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
	stream = http_ask(&scene, "HEAD /stream HTTP/1.1\r\n");
	assert_string_equal(strstr(stream, "\r\n\r\n"), "\r\n\r\n");
	assert_int_equal(scene.destroyed, 1);
	http_scene_close(&scene);
}

TEST(bodies)
{
	struct http_scene scene;
	_cleanup_free_ char *most = calloc(1, 100001), *answer = NULL;
	int client;

	http_scene_open(&scene, NULL);
	client = http_client(&scene);
	memset(most, 'x', 100000);
	http_send(client,
		  "POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n");
	http_run(&scene);
	http_send(client, most);
	answer = http_receive(&scene, client);
	if (!strstr(answer, "\r\n\r\n100000"))
		fail_msg("got %s", answer);
	close(client);
	expect_answer(&scene, "POST /size HTTP/1.1\r\nContent-Length: 100001\r\n", 413,
		      "too large");
	expect_answer(&scene, "POST /size HTTP/1.1\r\nContent-Length: 1000000000000\r\n", 413,
		      "too large");
	assert_int_equal(scene.handled, 1);
	http_scene_close(&scene);
}

/* What a client gets for this body. */
static char *upload(struct http_scene *scene, const char *path, const char *body)
{
	const int client = http_client(scene);
	char head[128], *answer;

	snprintf(head, sizeof(head),
		 "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", path,
		 strlen(body));
	http_send(client, head);
	http_run(scene);
	http_send(client, body);
	answer = http_receive(scene, client);
	close(client);
	return answer;
}

TEST(uploads)
{
	static const struct {
		const char *path, *body, *status, *holds;
	} rows[] = {
		{ "/upload", "hello", "HTTP/1.1 200", "\r\n\r\ntaken" },
		{ "/upload", "", "HTTP/1.1 200", "\r\n\r\ntaken" },
		{ "/upload", "hello!", "", "" },
		{ "/upload?errno=16", "hello", "HTTP/1.1 503", "Retry-After: 5\r\n" },
		{ "/upload?errno=122", "hello", "HTTP/1.1 429", "Retry-After: 5\r\n" },
		{ "/upload?errno=74", "hello", "HTTP/1.1 422", "\r\n\r\na reason\n" },
	};
	struct http_scene scene;

	http_scene_open(&scene, NULL);
	for (size_t i = 0; i < array_length(rows); i++) {
		_cleanup_free_ char *answer = upload(&scene, rows[i].path, rows[i].body);

		if (strncmp(answer, rows[i].status, strlen(rows[i].status)) ||
		    !strstr(answer, rows[i].holds) || (!*rows[i].status && *answer))
			fail_msg("%s: expected %s, got %s", rows[i].path, rows[i].status, answer);
	}
	/* The body of a refused one is not taken. */
	assert_int_equal(scene.uploaded, 0);
	assert_int_equal(scene.announced, 5);
	expect_answer(&scene, "POST /upload HTTP/1.1\r\nContent-Length: 100001\r\n", 413,
		      "too large");
	http_scene_close(&scene);
}

/* Several requests at once on one connection are answered one after the other. */
TEST(pipelined)
{
	struct http_scene scene;
	_cleanup_free_ char *answer = NULL;
	int client;

	http_scene_open(&scene, NULL);
	client = http_client(&scene);
	http_send(client, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"
			  "GET /echo?q=two HTTP/1.1\r\nHost: localhost\r\n\r\n"
			  "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
	answer = http_receive(&scene, client);
	assert_int_equal(count_of(answer, "HTTP/1.1 200 OK"), 3);
	assert_int_equal(count_of(answer, "\r\n\r\nhello"), 2);
	assert_int_equal(count_of(answer, "\r\n\r\ntwo"), 1);
	close(client);
	http_scene_close(&scene);
}

TEST(compressed)
{
	struct http_scene scene;
	_cleanup_free_ char *packed = NULL, *plain = NULL, *small = NULL;

	http_scene_open(&scene, NULL);
	packed = http_ask(&scene, "GET /large HTTP/1.1\r\nAccept-Encoding: gzip, br\r\n");
	assert_non_null(strstr(packed, "Content-Encoding: gzip\r\n"));
	assert_non_null(strstr(packed, "Vary: Accept-Encoding\r\n"));
	plain = http_ask(&scene, "GET /large HTTP/1.1\r\nAccept-Encoding: gzip;q=0\r\n");
	assert_null(strstr(plain, "Content-Encoding"));
	assert_non_null(strstr(plain, "Content-Length: 100000\r\n"));
	small = http_ask(&scene, "GET /hello HTTP/1.1\r\nAccept-Encoding: gzip\r\n");
	assert_null(strstr(small, "Content-Encoding"));
	http_scene_close(&scene);
}

TEST(later)
{
	struct http_scene scene;
	int client;
	char *answer;

	http_scene_open(&scene, NULL);
	client = http_client(&scene);
	http_send(client, "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
	for (unsigned i = 1; i < 3; i++) {
		answer = http_receive(&scene, client);
		assert_string_equal(answer, "");
		assert_int_equal(scene.handled, i);
		free(answer);
		http_wake(scene.server);
	}
	answer = http_receive(&scene, client);
	assert_non_null(strstr(answer, "\r\n\r\nnow"));
	free(answer);
	close(client);
	http_scene_close(&scene);
	assert_int_equal(scene.destroyed, 1);
}

TEST(streams)
{
	struct http_scene scene;
	int client;
	char *answer;

	http_scene_open(&scene, NULL);
	client = http_client(&scene);
	http_send(client, "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
	answer = http_receive(&scene, client);
	assert_non_null(strstr(answer, "Transfer-Encoding: chunked\r\n"));
	assert_null(strstr(answer, "event"));
	assert_int_equal(http_counts(scene.server).streams, 1);
	free(answer);
	for (int i = 1; i <= 3; i++) {
		char event[32];

		http_wake(scene.server);
		answer = http_receive(&scene, client);
		snprintf(event, sizeof(event), "event %d\n", i);
		assert_non_null(strstr(answer, event));
		assert_int_equal(count_of(answer, "event"), 1);
		/* The last chunk. */
		assert_int_equal(strstr(answer, "\r\n0\r\n\r\n") != NULL, i == 3);
		free(answer);
	}
	assert_int_equal(scene.destroyed, 1);
	assert_int_equal(http_counts(scene.server).streams, 0);
	close(client);
	http_scene_close(&scene);
}

TEST(pieces)
{
	struct http_scene scene;
	_cleanup_free_ char *answer = NULL;

	http_scene_open(&scene, NULL);
	answer = http_ask(&scene, "GET /pieces HTTP/1.1\r\n");
	assert_int_equal(count_of(answer, "piece\n"), 5);
	assert_non_null(strstr(answer, "\r\n0\r\n\r\n"));
	http_scene_close(&scene);
}

/* Streams and answers to come, when the client goes and when the server ends. */
TEST(abandoned)
{
	struct http_scene scene;
	int clients[4];

	http_scene_open(&scene, NULL);
	for (size_t i = 0; i < array_length(clients); i++) {
		char *answer;

		clients[i] = http_client(&scene);
		http_send(clients[i], i % 2 ? "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n"
					    : "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
		answer = http_receive(&scene, clients[i]);
		free(answer);
	}
	close(clients[0]);
	close(clients[1]);
	for (int i = 0; i < 8; i++) {
		http_wake(scene.server);
		http_run(&scene);
	}
	http_scene_close(&scene);
	assert_int_equal(scene.destroyed, 4);
	close(clients[2]);
	close(clients[3]);
}

/* What the server needs is what its sandbox allows. */
TEST(confined)
{
	struct http_scene scene;
	_cleanup_free_ char *packed = NULL;

	http_scene_open_confined(&scene);
	for (int i = 0; i < 20; i++)
		expect_answer(&scene, "GET /hello HTTP/1.1\r\n", 200, "hello");
	packed = http_ask(&scene, "GET /large HTTP/1.1\r\nAccept-Encoding: gzip, br\r\n");
	assert_non_null(strstr(packed, "Content-Encoding: gzip\r\n"));
	expect_answer(&scene, "GET /pieces HTTP/1.1\r\n", 200, "piece");
	expect_answer(&scene, "GET /nothing HTTP/1.1\r\n", 404, "not found");
	expect_answer(&scene, "GET /fails?errno=2 HTTP/1.1\r\n", 404, "a reason");
	http_scene_close(&scene);
}

UNIT_TESTS(cmocka_unit_test(answers), cmocka_unit_test(refusals), cmocka_unit_test(parameters),
	   cmocka_unit_test(hosts_and_origins), cmocka_unit_test(hosts_with_a_token),
	   cmocka_unit_test(tokens), cmocka_unit_test(lasting), cmocka_unit_test(slow_heads),
	   cmocka_unit_test(heads), cmocka_unit_test(bodies), cmocka_unit_test(uploads),
	   cmocka_unit_test(pipelined), cmocka_unit_test(compressed), cmocka_unit_test(later),
	   cmocka_unit_test(streams), cmocka_unit_test(pieces), cmocka_unit_test(abandoned),
	   cmocka_unit_test(confined))
