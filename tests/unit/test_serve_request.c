/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests as they arrive at the collector, from a process that may send anything.
 */
#include "serve/request.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/unit.h"

static void take(struct requests *requests, uint32_t kind, uint32_t tid)
{
	const struct request request = { kind, tid };

	requests_take(requests, &request, sizeof(request));
}

TEST(requests_come_in_order)
{
	struct requests requests = { 0 };

	take(&requests, REQUEST_THREAD, 7);
	take(&requests, REQUEST_SNAPSHOT, 0);
	take(&requests, REQUEST_THREAD, 5);
	take(&requests, REQUEST_THREAD, 7);
	assert_true(requests_take_snapshot(&requests));
	assert_false(requests_take_snapshot(&requests));
	assert_int_equal(requests_take_thread(&requests), 7);
	assert_int_equal(requests_take_thread(&requests), 5);
	assert_int_equal(requests_take_thread(&requests), 0);
	take(&requests, REQUEST_THREAD, 7);
	assert_int_equal(requests_take_thread(&requests), 7);
}

TEST(nothing_else_can_be_asked_for)
{
	struct requests requests = { 0 };

	for (uint32_t kind = 0; kind < 4000; kind++)
		if (kind != REQUEST_SNAPSHOT && kind != REQUEST_THREAD)
			take(&requests, kind, 1);
	take(&requests, UINT32_MAX, 1);
	take(&requests, REQUEST_SNAPSHOT, 1);
	take(&requests, REQUEST_THREAD, 0);
	take(&requests, REQUEST_THREAD, REQUEST_TID_MAX + 1);
	take(&requests, REQUEST_THREAD, UINT32_MAX);
	assert_false(requests_take_snapshot(&requests));
	assert_int_equal(requests_take_thread(&requests), 0);
	take(&requests, REQUEST_THREAD, REQUEST_TID_MAX);
	assert_int_equal(requests_take_thread(&requests), REQUEST_TID_MAX);
}

TEST(as_many_wait_as_there_is_room_for)
{
	struct requests requests = { 0 };

	for (uint32_t tid = 1; tid < 1000; tid++)
		take(&requests, REQUEST_THREAD, tid);
	for (uint32_t tid = 1; tid <= REQUEST_THREADS_MOST; tid++)
		assert_int_equal(requests_take_thread(&requests), tid);
	assert_int_equal(requests_take_thread(&requests), 0);
}

/* A stream has no borders: the same bytes in all pieces. */
TEST(pieces_of_any_length)
{
	struct request all[5];

	for (uint32_t i = 0; i < array_length(all); i++)
		all[i] = (struct request){ REQUEST_THREAD, 100 + i };
	for (size_t piece = 1; piece <= sizeof(all); piece++) {
		struct requests requests = { 0 };

		for (size_t at = 0; at < sizeof(all); at += piece)
			requests_take(&requests, (const char *)all + at,
				      at + piece <= sizeof(all) ? piece : sizeof(all) - at);
		for (uint32_t i = 0; i < array_length(all); i++)
			assert_int_equal(requests_take_thread(&requests), 100 + i);
		assert_int_equal(requests_take_thread(&requests), 0);
	}
}

/* What the collector does not take is refused to those who ask for more. */
TEST(sent_until_the_socket_is_full)
{
	struct requests requests = { 0 };
	struct error *err = NULL;
	char bytes[64];
	int sockets[2], sent = 0;
	ssize_t got;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	while (!err && sent < 1000000) {
		err = request_send(sockets[1], REQUEST_THREAD, 42);
		sent += !err;
	}
	assert_non_null(err);
	assert_int_equal(err->errnum, EBUSY);
	error_destroy(err);
	while ((got = recv(sockets[0], bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		requests_take(&requests, bytes, (size_t)got);
	assert_int_equal(requests_take_thread(&requests), 42);
	assert_int_equal(requests_take_thread(&requests), 0);
	close(sockets[0]);
	expect_error(request_send(sockets[1], REQUEST_SNAPSHOT, 0), "cannot send a request");
	close(sockets[1]);
}

static void expect_malformed(struct reply_header header)
{
	size_t length;

	expect_error(reply_length(&header, &length), "malformed");
}

TEST(replies)
{
	const struct reply_header good = { .magic = REPLY_MAGIC,
					   .length = sizeof(good) + 10,
					   .kind = REQUEST_THREAD };
	struct reply_header header = good;
	size_t length;

	assert_null(reply_length(&header, &length));
	assert_int_equal(length, sizeof(good) + 10);
	header.magic++;
	expect_malformed(header);
	header = good;
	header.length = sizeof(good) - 1;
	expect_malformed(header);
	header.length = REPLY_THREAD_MAX + 1;
	expect_malformed(header);
	header.kind = REQUEST_SNAPSHOT;
	assert_null(reply_length(&header, &length));
	header.length = REPLY_SNAPSHOT_MAX + 1;
	expect_malformed(header);
	header = good;
	header.kind = 0;
	expect_malformed(header);
	header.kind = REQUEST_THREAD + 1;
	expect_malformed(header);
	header = good;
	header.status = REPLY_GONE + 1;
	expect_malformed(header);
}

UNIT_TESTS(cmocka_unit_test(requests_come_in_order),
	   cmocka_unit_test(nothing_else_can_be_asked_for),
	   cmocka_unit_test(as_many_wait_as_there_is_room_for),
	   cmocka_unit_test(pieces_of_any_length), cmocka_unit_test(sent_until_the_socket_is_full),
	   cmocka_unit_test(replies))
