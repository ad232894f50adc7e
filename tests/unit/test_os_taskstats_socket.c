/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/taskstats_socket.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "unit/unit.h"

/*
 * The kernel's socket with faults put in: the linker gives us every send() and recv() of the tested
 * code
 * (--wrap in rules.mk). Who may not see statistics gets an answer too: EPERM.
 */
static int fault_at, fault, received;
static int send_fault, sent; /* of the next send, and never again */

ssize_t __real_recv(int fd, void *buffer, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags);

/* How long a receive would wait for a kernel that does not answer; 0 is for ever. */
static time_t patience_s;

ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags)
{
	struct timeval patience = { 0 };
	socklen_t length = sizeof(patience);

	getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, &length);
	patience_s = patience.tv_sec;
	if (++received != fault_at)
		return __real_recv(fd, buffer, size, flags);
	/* An overflow has lost this reply; a time-out means that none came. */
	if (fault == ENOBUFS)
		__real_recv(fd, buffer, size, flags);
	errno = fault;
	return -1;
}

ssize_t __real_send(int fd, const void *buffer, size_t size, int flags);
ssize_t __wrap_send(int fd, const void *buffer, size_t size, int flags);

ssize_t __wrap_send(int fd, const void *buffer, size_t size, int flags)
{
	sent++;
	if (!send_fault)
		return __real_send(fd, buffer, size, flags);
	errno = send_fault;
	send_fault = 0;
	return -1;
}

static struct taskstats_socket *open_socket(void)
{
	struct taskstats_socket *socket = NULL;
	struct error *err = taskstats_socket_open(&socket);

	error_destroy(err);
	if (err)
		skip();
	received = sent = send_fault = 0;
	return socket;
}

#define ASKED 40

/* Ask for ourselves many times, with `error` instead of reply `at`. */
static void ask(struct taskstats_socket *socket, int at, int error, struct taskstats_reply *ret)
{
	uint32_t tids[ASKED];

	for (size_t i = 0; i < ASKED; i++)
		tids[i] = (uint32_t)getpid();
	fault_at = at;
	fault = error;
	taskstats_ask(socket, tids, ASKED, ret);
}

static bool is_answered(const struct taskstats_reply *reply)
{
	return reply->failed == 0 || reply->failed == EPERM;
}

TEST(every_thread_is_answered)
{
	struct taskstats_socket *socket = open_socket();
	struct taskstats_reply replies[ASKED];

	ask(socket, 0, 0, replies);
	for (size_t i = 0; i < ASKED; i++) {
		assert_true(is_answered(&replies[i]));
		assert_int_equal(replies[i].tid, getpid());
	}
	assert_int_equal(taskstats_socket_overflows(socket), 0);
	taskstats_socket_close(socket);
}

TEST(replies_lost_by_an_overflow_are_requested_again)
{
	struct taskstats_socket *socket = open_socket();
	struct taskstats_reply replies[ASKED];
	static const int places[] = { 1, 2, ASKED / 2, ASKED };

	for (size_t p = 0; p < array_length(places); p++) {
		received = 0;
		ask(socket, places[p], ENOBUFS, replies);
		for (size_t i = 0; i < ASKED; i++)
			assert_true(is_answered(&replies[i]));
		assert_int_equal(taskstats_socket_overflows(socket), p + 1);
	}
	taskstats_socket_close(socket);
}

TEST(it_never_waits_for_ever)
{
	struct taskstats_socket *socket = open_socket();
	struct taskstats_reply replies[ASKED];

	ask(socket, 0, 0, replies);
	assert_in_range(patience_s, 1, 10);
	taskstats_socket_close(socket);
}

TEST(without_an_answer_it_gives_up)
{
	struct taskstats_socket *socket = open_socket();
	struct taskstats_reply replies[ASKED];

	ask(socket, 3, EAGAIN, replies);
	assert_true(is_answered(&replies[1]));
	for (size_t i = 2; i < ASKED; i++)
		assert_int_equal(replies[i].failed, ETIMEDOUT);
	taskstats_socket_close(socket);
}

/* Answers to questions that were given up must not pass for answers to the next ones. */
TEST(late_answers_are_passed_over)
{
	struct taskstats_socket *socket = open_socket();
	struct taskstats_reply replies[ASKED];
	uint32_t other = (uint32_t)getppid();

	ask(socket, 3, EAGAIN, replies);
	fault_at = 0;
	taskstats_ask(socket, &other, 1, replies);
	assert_true(is_answered(&replies[0]));
	assert_int_equal(replies[0].tid, other);
	taskstats_socket_close(socket);
}

/* What was not sent is not waited for. */
TEST(a_failed_send_is_in_every_reply)
{
	struct taskstats_socket *socket = open_socket();
	struct taskstats_reply replies[ASKED];
	static const int faults[] = { ENOMEM, ECONNREFUSED };

	for (size_t f = 0; f < array_length(faults); f++) {
		received = sent = 0;
		send_fault = faults[f];
		ask(socket, 0, 0, replies);
		for (size_t i = 0; i < ASKED; i++) {
			assert_int_equal(replies[i].failed, faults[f]);
			assert_int_equal(replies[i].tid, getpid());
		}
		assert_int_equal(sent, 1);
		assert_int_equal(received, 0);
	}
	/* and the next batch goes out as ever */
	ask(socket, 0, 0, replies);
	for (size_t i = 0; i < ASKED; i++)
		assert_true(is_answered(&replies[i]));
	assert_int_equal(taskstats_socket_overflows(socket), 0);
	taskstats_socket_close(socket);
}

TEST(an_interrupted_send_is_sent_again)
{
	struct taskstats_socket *socket = open_socket();
	struct taskstats_reply replies[ASKED];

	send_fault = EINTR;
	ask(socket, 0, 0, replies);
	for (size_t i = 0; i < ASKED; i++)
		assert_true(is_answered(&replies[i]));
	assert_int_equal(sent, 2);
	taskstats_socket_close(socket);
}

TEST(a_thread_that_is_gone)
{
	struct taskstats_socket *socket = open_socket();
	uint32_t nobody = 0x7ffffffe;
	struct taskstats_reply reply;

	fault_at = 0;
	taskstats_ask(socket, &nobody, 1, &reply);
	assert_true(reply.failed == ESRCH || reply.failed == EPERM);
	taskstats_socket_close(socket);
}

UNIT_TESTS(cmocka_unit_test(every_thread_is_answered),
	   cmocka_unit_test(replies_lost_by_an_overflow_are_requested_again),
	   cmocka_unit_test(it_never_waits_for_ever),
	   cmocka_unit_test(without_an_answer_it_gives_up),
	   cmocka_unit_test(late_answers_are_passed_over),
	   cmocka_unit_test(a_failed_send_is_in_every_reply),
	   cmocka_unit_test(an_interrupted_send_is_sent_again),
	   cmocka_unit_test(a_thread_that_is_gone))
