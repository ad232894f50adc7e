/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fd_channel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/unit.h"

static void expect_same_file(int fd, int other)
{
	struct stat a, b;

	assert_int_not_equal(fd, other);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fstat(fd, &a), 0);
	assert_int_equal(fstat(other, &b), 0);
	assert_int_equal(a.st_ino, b.st_ino);
}

/* A message with more bytes or descriptors than the receiver takes is one error, which leaves no
 * descriptor behind. */
TEST(messages_are_whole_or_malformed)
{
	const int file = memfd_create("file", MFD_CLOEXEC);
	int sockets[2], fds[2];
	size_t length, count;
	char bytes[4];

	assert_true(file >= 0);
	expect_ok(fd_channel_open(sockets));
	expect_ok(fd_channel_send(sockets[0], "abc", 3, (const int[]){ file, file }, 2));
	expect_ok(fd_channel_send(sockets[0], "abcde", 5, NULL, 0));
	expect_ok(fd_channel_send(sockets[0], "abc", 3, (const int[]){ file, file }, 2));
	expect_ok(fd_channel_receive(sockets[1], bytes, sizeof(bytes), &length, fds, 2, &count));
	assert_int_equal(length, 3);
	assert_int_equal(count, 2);
	expect_same_file(fds[0], file);
	expect_same_file(fds[1], file);
	fd_channel_close_all(fds, count);
	expect_error(fd_channel_receive(sockets[1], bytes, sizeof(bytes), &length, fds, 2, &count),
		     "malformed");
	expect_error(fd_channel_receive(sockets[1], bytes, sizeof(bytes), &length, fds, 1, &count),
		     "malformed");
	close(sockets[0]);
	expect_ok(fd_channel_receive(sockets[1], bytes, sizeof(bytes), &length, fds, 1, &count));
	assert_int_equal(length, 0);
	close(sockets[1]);
	close(file);
}

UNIT_TESTS(cmocka_unit_test(messages_are_whole_or_malformed))
